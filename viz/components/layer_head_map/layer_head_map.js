import { measuring } from "../shared/canvas.js"
import { reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { fitSheet, followCells, listenToCells, makeSheet, showChosen } from "../shared/sheet.js"
import { announcer, mounted } from "../shared/shell.js"
import { css, readTheme } from "../shared/theme.js"
import { fill, formatNumber } from "../shared/words.js"
import { cornerOf, GROUP_GAP, hit, layOut, matesOf } from "./layout.js"
import { fitNumbers, paint } from "./paint.js"
/** @import { Cells, Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".layer-head-map", { create: createMap, receive, draw, follow: (state, at) => followCells(state, CELLS, at) })
}

function createMap(root) {
  const parts = makeSheet()
  const caption = element("div", { className: "caption" })
  const bar = element("div", { className: "bar", "aria-hidden": "true" })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  root.replaceChildren(parts.scroller, element("div", { className: "foot" }, caption, bar), live)
  const state = /** @type {any} */ ({ ...parts, root, caption, bar, hovered: null })
  state.announce = announcer(live)
  listenToCells(state, CELLS)
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const [rows, columns] = arrays.values.shape
  const named = (labels, letter, count) => labels ?? Array.from({ length: count }, (_, i) => `${letter}${i}`)
  Object.assign(state, {
    meta, rows, columns, values: arrays.values,
    rowLabels: named(meta.row_labels, "L", rows), columnLabels: named(meta.column_labels, "H", columns),
  })
  state.open = inside(state, reconcile(state, "open", meta.open))
  state.hovered = inside(state, state.hovered)
  const { title, texts } = meta
  state.canvas.setAttribute("aria-label", fill(texts.summary, { title, rows: texts.rows, columns: texts.columns }))
}

// The cell, or null if it was in an earlier, larger map and this one does not have it.
/** @param {State} state */
const inside = ({ rows, columns, meta }, cell) =>
  cell && cell[0] < rows && cell[1] < columns && !(cell[0] in meta.notes) ? cell : null

// Lay the sheet out for the current width, and paint it.
/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  const theme = (state.theme = readTheme(root, meta.palette))
  const pen = measuring(`11px ${theme.font}`)
  state.layout = fitSheet(state, (width) => layOut(state, width, (text) => pen.measureText(text).width))
  state.numbers = fitNumbers(pen, state)
  drawBar(state)
  showChosen(state, CELLS)
  refresh(state)
}

function refresh(state) {
  paint(state)
  const shown = state.hovered ?? state.open
  const { caption } = state
  caption.textContent = shown ? describe(state, shown) : ""
  if (caption.scrollWidth > caption.clientWidth) caption.textContent = describeCell(state, shown)
  const { dataset } = state.root
  dataset.open = state.open ? state.open.join() : ""
  dataset.hovered = state.hovered ? state.hovered.join() : ""
  const { left, top, pitchX, pitchY, slanted, columnGroup, rowGroup } = state.layout
  dataset.geometry = JSON.stringify({ left, top, pitchX, pitchY, slanted, columnGroup, rowGroup, groupGap: GROUP_GAP })
}

// Describe the cell and, if it is in the open head's group, the heads that it shares keys and values with.
/** @param {State} state */
function describe(state, cell) {
  const { texts } = state.meta
  const mates = matesOf(state)
  if (!texts.shared || !mates.some((mate) => String(mate) === String(cell))) return describeCell(state, cell)
  const axis = state.layout.columnGroup ? 1 : 0
  return `${describeCell(state, cell)} · ${fill(texts.shared, { heads: `H${mates[0][axis]}–H${mates[mates.length - 1][axis]}` })}`
}

/** @param {State} state */
function describeCell(state, [row, column]) {
  const { texts, number, whole } = state.meta
  const exact = state.values[row * state.columns + column]
  const value = formatNumber(exact, number, texts)
  const share = formatNumber(exact / (whole || NaN), "percent", texts)
  const [label, across] = [state.rowLabels[row], state.columnLabels[column]]
  const words = Number.isFinite(exact) ? texts.cell : texts.missing
  return fill(words, { row: label, column: across, value, share, row_index: row, column_index: state.meta.first_column + column, word: state.meta.words?.[row][column] ?? "" })
}

// Draw the colour bar with the numbers at its ends, marked ≤ or ≥ if values lie beyond them.
/** @param {State} state */
function drawBar({ bar, meta, theme }) {
  const stops = theme[meta.scale === "signed" ? "diverging" : "sequential"]
  const colors = element("i")
  colors.style.background = `linear-gradient(to right, ${stops.map(([t, ...color]) => `${css(color)} ${100 * t}%`).join(", ")})`
  const end = (value, mark, at) => `${meta.clipped[at] ? mark : ""}${formatNumber(value, meta.number, meta.texts)}`
  bar.replaceChildren(end(meta.low, "≤ ", 0), colors, end(meta.high, "≥ ", 1))
}

// The next cell in this direction that can be opened; null at the edge.
/** @param {State} state */
function neighbour(state, [down, right]) {
  const { rows, columns, meta } = state
  let [row, column] = state.open ?? [down > 0 ? -1 : 0, right > 0 ? -1 : 0]
  for (;;) {
    ;[row, column] = [row + down, column + right]
    if (row < 0 || column < 0 || row >= rows || column >= columns) return null
    if (!(row in meta.notes)) return [row, column]
  }
}

/** @type {Cells["boxOf"]} */
function boxOf(state, cell) {
  const { layout } = state
  const [x, y] = cornerOf(state, cell[0], cell[1])
  return { left: x - layout.left, top: y - layout.top, right: x + layout.pitchX, bottom: y + layout.pitchY }
}

/** @type {Cells} */
const CELLS = { choice: "open", hit, neighbour, boxOf, describe, refresh }
