import { measuring } from "../shared/canvas.js"
import { reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { hatchImage } from "../shared/hatch.js"
import { POINTED } from "../shared/follow.js"
import { inRoom } from "../shared/room.js"
import { hearRows } from "../shared/row.js"
import { fitSheet, followCells, listenToCells, makeSheet, showChosen } from "../shared/sheet.js"
import { announcer, later, mounted } from "../shared/shell.js"
import { css, ramp, readTheme } from "../shared/theme.js"
import { fill, formatNumber, wholeNumber } from "../shared/words.js"
import { headAt, headsBelow, hit, layOut, matesOf, slotOf, squareOf } from "./layout.js"
import { FRAMED, frameColor, paint } from "./paint.js"
/** @import { Cells, Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".head-grid", { create: createGrid, receive, draw, follow: (state, at) => followCells(state, CELLS, at) })
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
function createGrid(root, signal) {
  const parts = makeSheet()
  const caption = element("div", { className: "caption" })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  const more = element("div", { className: "more" })
  const legend = element("div", { className: "legend" })
  const left = element("div", { className: "left-out" })
  root.replaceChildren(parts.scroller, more, caption, legend, left, live)
  const state = /** @type {any} */ ({ ...parts, root, more, caption, legend, left, still: document.createElement("canvas"), hovered: null, lit: null, mark: null, version: 0 })
  state.announce = announcer(live)
  listenToCells(state, CELLS)
  // a figure of words has fewer units than the small maps have tokens, so its places do not match theirs
  hearRows(state, signal, ({ row, of = 0, query, key }) => light(state, { mark: query && key && row !== null && of >= state.n ? [row / of, key[0] / of, 1 / of] : null }))
  document.addEventListener(POINTED, (event) => hear(state, event), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const [layers, heads, n] = arrays.thumbnails.shape
  Object.assign(state, { meta, layers, heads, n, order: null, left_out: null, ...arrays })
  state.selected = reconcile(state, "selected", meta.selected)
  state.compared = meta.compare
  state.hovered = null
  state.canvas.setAttribute("aria-label", meta.texts.summary ?? "")
}

// Highlight what other figures point at: a cell of the open map, on every small map, or a head in the model strip.
/** @type {(state: State, at: { mark?: State["mark"], lit?: State["lit"] }) => void} */
function light(state, at) {
  const before = JSON.stringify([state.mark, state.lit])
  Object.assign(state, at)
  if (JSON.stringify([state.mark, state.lit]) !== before) later(state, () => refresh(state))
}

/** @param {any} event */
function hear(state, event) {
  const from = event.composedPath()[0]
  if (!from.classList?.contains("model-strip") || !state.meta || state.follows) return
  light(state, { lit: event.detail.hovered })
}

// Lay the sheet out for the current width, and paint it.
/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  const theme = (state.theme = readTheme(root, meta.palette))
  const measure = (text) => measuring(`11px ${theme.font}`).measureText(text).width
  state.layout = fitSheet(state, (width) => layOut(state, width, inRoom(meta.max_height), measure))
  state.colors = ramp(theme.sequential)
  state.version++
  showChosen(state, CELLS)
  drawLegend(state)
  refresh(state)
}

// Explain the frames of the small maps and their hatched cells. The smallest maps have no frames; cells with numbers
// need no legend.
/** @param {State} state */
function drawLegend({ legend, left, layout, theme, meta, left_out }) {
  const { texts, low, high, mode } = meta
  left.hidden = mode !== "maps" || !left_out
  const swatch = element("i")
  swatch.style.background = hatchImage(theme, "leftOut")
  swatch.style.borderColor = css(theme.rule)
  left.replaceChildren(swatch, element("span", { textContent: texts.left_out_label ?? "" }))
  legend.hidden = mode !== "maps" || layout.pitch < FRAMED || !texts.frame
  const [from, to] = [low, high].map((value) => withUnit(meta, value))
  const frames = [0, 0.5, 1].map((strength) => {
    const frame = element("i")
    frame.style.borderColor = css(frameColor(theme, strength))
    return frame
  })
  const words = element("span", { textContent: fill(texts.frame, { metric: texts.metric ?? "", low: from, high: to }) })
  legend.replaceChildren(...frames, words)
}

function refresh(state) {
  paint(state)
  const shown = state.hovered ?? state.selected
  state.caption.textContent = describe(state, shown)
  const below = headsBelow(state)
  state.more.hidden = state.layout.height <= state.viewHeight + 1
  state.more.textContent = below ? fill(state.meta.texts.more, { count: wholeNumber(below) }) : "\u00a0"
  const { dataset } = state.root
  dataset.selected = state.selected.join()
  dataset.lit = JSON.stringify([state.mark, state.lit])
  dataset.hovered = state.hovered ? state.hovered.join() : ""
  const { left, top, pitch, rowHeight, columns, groupGap } = state.layout
  dataset.geometry = JSON.stringify({ left, top, pitch, rowHeight, columns, groupGap })
}

/** @param {State} state */
function describe(state, [layer, head]) {
  const { texts } = state.meta
  const value = withUnit(state.meta, state.metric[layer * state.heads + head])
  const words = fill(texts.head, { head: `L${layer}H${head}`, metric: texts.metric ?? "", value, layer_index: layer, head_index: head })
  const mates = matesOf(state)
  if (!texts.shared || !mates.some((mate) => String(mate) === String([layer, head]))) return words
  return `${words} · ${fill(texts.shared, { heads: `H${mates[0][1]}–H${mates[mates.length - 1][1]}` })}`
}

/** @type {(meta: Meta, value: number) => string} */
function withUnit({ texts, number }, value) {
  const words = formatNumber(value, number, texts)
  return number === "percent" || !Number.isFinite(value) ? words : fill(texts.unit ?? "{number}", { number: words })
}

// The next head in this direction that has weights; null at the edge.
/** @param {State} state */
function neighbour(state, [down, right]) {
  const slot = slotOf(state, state.selected) ?? [0, -right]
  for (let [row, column] = [slot[0] + down, slot[1] + right]; ; row += down, column += right) {
    if (row < 0 || column < 0 || row >= state.layout.rows || column >= state.layout.columns) return null
    const found = headAt(state, row, column)
    if (found && state.meta.layer_has_weights[found[0]]) return found
  }
}

/** @type {Cells["boxOf"]} */
function boxOf(state, head) {
  const slot = slotOf(state, head)
  if (!slot) return null
  const { layout } = state
  const { x, y, size } = squareOf(state, ...slot)
  return { left: x - layout.left, top: y - (layout.rowHeight - layout.pitch) - layout.top, right: x + size, bottom: y + size }
}

/** @type {Cells} */
const CELLS = { choice: "selected", hit, neighbour, boxOf, describe, refresh }
