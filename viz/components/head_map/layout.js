// Lay out the parts of the figure, in CSS pixels. The plot takes the space that labels and colour bar leave.

import { contextOf } from "../shared/canvas.js"
import { clamp } from "../shared/numbers.js"
import { inRoom, sharpness } from "../shared/room.js"
import { stackOf, stances } from "../shared/upright.js"
import { formatNumber } from "../shared/words.js"
import { isWhole } from "../shared/view.js"
/** @import { State } from "./types" */

export const LABEL_FONT = 12
export const SMALL_FONT = 11
export const LETTER = 13 // height of a letter in a stacked label
const LARGEST_CELL = 46
// Cells are square unless one text attends to another, or one side of the window has more than UNLIKE times the units
// of the other.
const [UNLIKE, MOST_STRETCHED] = [3, 8]
const [LABEL_ROOM, LABELLED] = [12, 24] // with two texts, up to LABELLED rows are at least as high as their labels, even in a low window
export const LEAN = Math.PI / 3 // key labels wider than their column are turned by 60°
const NARROW = 520 // below this width the colour bar lies under the plot

// The widths of all text, measured once per data and theme.
/** @param {State} state */
export function measureFigure(state) {
  const { meta, theme } = state
  const context = contextOf(state.tile)
  const widest = (words, font) => {
    context.font = `${font}px ${theme.font}`
    return words.reduce((most, text) => Math.max(most, context.measureText(text).width), 0)
  }
  const numbers = (count) => [String(Math.max(0, count - 1))]
  return {
    rows: widest(meta.row_labels.length ? meta.row_labels : numbers(meta.total[0]), meta.row_labels.length ? LABEL_FONT : SMALL_FONT),
    columnWidths: meta.col_labels.map((label) => widest([label], LABEL_FONT)),
    columns: widest(meta.col_labels.length ? meta.col_labels : numbers(meta.total[1]), meta.col_labels.length ? LABEL_FONT : SMALL_FONT),
    ticks: widest(barTicks(meta).map((tick) => tick.text), SMALL_FONT),
    masked: Math.max(0, ...swatches(meta).map(([name]) => 18 + widest([meta.texts[name] ?? ""], SMALL_FONT))),
  }
}

// The legend entries under the colour bar: the key of each one's text, and its kind of hatching.
/** @type {(meta: any) => [name: string, kind: "masked" | "leftOut"][]} */
export const swatches = (meta) => [
  ...(meta.has_masked ? [/** @type {[string, "masked"]} */ (["masked_label", "masked"])] : []),
  ...(meta.has_left_out ? [/** @type {[string, "leftOut"]} */ (["left_out_label", "leftOut"])] : []),
]

// How far the turned labels of the last keys extend beyond the plot.
/** @param {State} state */
function tailOf({ meta, measured }, pitch, most) {
  const last = measured.columnWidths.slice(-5)
  const stand = stances(meta.col_labels, measured.columnWidths, pitch).slice(-5)
  const reach = last.map((width, i) => (stand[i] === "turned" ? Math.min(width, most) * Math.cos(LEAN) + 4 : 0) - (last.length - i - 0.5) * pitch)
  return meta.col_labels.length ? Math.ceil(Math.max(...reach)) : 10
}

// The height of the keys' labels over columns of this width.
/** @param {State} state */
function labelsHeight({ meta, measured }, pitch, most) {
  if (!meta.col_labels.length) return Math.min(measured.columns, most) * Math.sin(LEAN)
  const stand = stances(meta.col_labels, measured.columnWidths, pitch)
  const heights = meta.col_labels.map((label, i) => {
    const stands = stand[i]
    if (stands === "upright") return LETTER
    return stands === "stacked" ? LETTER * stackOf(label, Math.floor(most / LETTER)).length : Math.min(measured.columnWidths[i], most) * Math.sin(LEAN)
  })
  return Math.max(LETTER, ...heights)
}

// The height and width of a cell in this much room.
/** @type {(state: State, spans: number[], room: number[]) => number[]} */
function cellsIn({ meta, view, moving }, spans, [height, width]) {
  const across = meta.total[0] !== meta.total[1] // two texts
  const least = across && meta.row_labels.length ? LABEL_ROOM * Math.min(spans[0], LABELLED) : 60
  const room = [Math.max(least, height), width]
  const ratio = sharpness()
  const even = Math.min(room[0] / spans[0], room[1] / spans[1])
  const apart = across || Math.max(spans[0] / spans[1], spans[1] / spans[0]) > UNLIKE // the shorter side gets more room
  return spans.map((span, axis) => {
    let cell = apart ? Math.min(room[axis] / span, MOST_STRETCHED * even) : even
    if (isWhole(view, meta.total)) cell = Math.min(cell, LARGEST_CELL)
    if (!moving && cell * ratio >= 12) cell = Math.floor(cell * ratio) / ratio // whole pixels: every cell alike
    return cell
  })
}

// During a gesture the previous `plot` is kept, so that the picture does not change size under the fingers.
/** @param {State} state */
export function layOutFigure(state, width) {
  const { meta, view, measured } = state
  const narrow = width < NARROW
  const most = narrow ? 84 : 120
  const left = 20 + Math.ceil(Math.min(measured.rows, most)) + 8
  const spans = [view.q1 - view.q0, view.k1 - view.k0]
  const right = narrow ? Math.max(4, tailOf(state, (width - left) / spans[1], most)) : 16 + 11 + Math.ceil(Math.max(8 + measured.ticks, measured.masked - 11, 52)) + 2
  const notes = wrapNotes(state, width - (narrow ? 4 : left))
  const below = 8 + (narrow ? 44 : 0) + notes.length * 17
  const topOf = (labels) => 18 + Math.ceil(labels + 10)
  const cells = (top) => cellsIn(state, spans, [inRoom(meta.max_height) - top - below, Math.max(60, width - left - right)])
  // Cells are smallest when all labels are turned: a label that is upright over these is upright over larger ones, too.
  const top = topOf(labelsHeight(state, cells(topOf(Math.min(measured.columns, most) * Math.sin(LEAN)))[1], most))
  const [high, wide] = cells(top)
  const kept = state.moving && state.layout?.plot
  const plot = { x: left, y: top, width: wide * spans[1], height: high * spans[0] }
  if (kept) Object.assign(plot, { width: kept.width, height: kept.height, x: kept.x, y: kept.y })
  return {
    width, plot, narrow, most, notes,
    stances: stances(meta.col_labels, measured.columnWidths, plot.width / spans[1]), // of the keys' labels
    cellWidth: plot.width / spans[1], cellHeight: plot.height / spans[0],
    height: Math.ceil(Math.max(plot.y + plot.height + below, narrow ? 0 : plot.y + sideHeight(state))),
    bar: barBox(plot, narrow, width, measured.ticks),
  }
}

// The colour bar is beside the plot. On a narrow screen it is under the plot, with the buttons to its right, and wide
// enough for the numbers at its two ends.
function barBox(plot, narrow, width, ticks) {
  if (narrow) return { x: 4, y: plot.y + plot.height + 16, width: Math.max(Math.min(130, width * 0.27), 2 * ticks + 8), height: 9 }
  return { x: plot.x + plot.width + 16, y: plot.y, width: 11, height: clamp(plot.height * 0.42, 60, 190) }
}

// The height of the column on the right, so that a low plot leaves room for it.
/** @param {State} state */
function sideHeight(state) {
  return 60 + (swatches(state.meta).length ? 11 + 17 * swatches(state.meta).length : 0) + (state.zoomable ? 40 : 0)
}

// Pieces without a line break: a word or a Chinese character, with adjacent brackets and punctuation.
const PIECES = /[（《“]*(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)[、。，：；？！）》”]*\s*|\s+/g

// The lines under the figure: what was pooled, then the page's own note.
/** @param {State} state */
function wrapNotes({ meta, theme, tile }, width) {
  const { texts, pool } = meta
  const note = [pool[0] * pool[1] > 1 ? texts.pooled_note : "", texts.note].filter(Boolean).join(" · ")
  if (!note) return []
  const context = contextOf(tile)
  context.font = `${SMALL_FONT}px ${theme.font}`
  const lines = [""]
  for (const piece of note.match(PIECES) ?? []) {
    if (context.measureText((lines.at(-1) + piece).trimEnd()).width > width && lines.at(-1)) lines.push("")
    lines[lines.length - 1] += piece
  }
  return lines.map((line) => line.trim())
}

// Ticks of the colour bar: t from 0 to 1, and the number there. Clipped ends are marked.
export function barTicks(meta) {
  const { low, high, log, number, texts, clipped } = meta
  let marks = [low, (low + high) / 2, high]
  if (log) {
    marks = [low]
    for (let power = Math.ceil(Math.log10(low) + 1e-9); 10 ** power < high * 0.999; power++) marks.push(10 ** power)
    marks = [...marks.filter((mark, i) => i === 0 || mark > low * 2), high].filter((mark, i, all) => i === all.length - 1 || mark < high * 0.5)
  }
  return marks.map((value, i) => {
    const sign = i === 0 && clipped[0] ? "≤ " : i === marks.length - 1 && clipped[1] ? "≥ " : ""
    return { t: placeOnBar(meta, value), text: sign + formatNumber(Math.abs(value) < 1e-12 ? 0 : value, number, texts).replace(/\.0+(?=\D*$)/, "") }
  })
}

// The position of a value on the colour bar, 0..1.
export function placeOnBar({ low, high, log }, value) {
  const t = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1)
  return t > 0 ? Math.min(t, 1) : 0
}

// Convert screen coordinates to units and back. The fraction is the position inside a unit.
export const queryAt = ({ layout, view }, y) => view.q0 + (y - layout.plot.y) / layout.cellHeight
export const keyAt = ({ layout, view }, x) => view.k0 + (x - layout.plot.x) / layout.cellWidth
export const yOf = ({ layout, view }, query) => layout.plot.y + (query - view.q0) * layout.cellHeight
export const xOf = ({ layout, view }, key) => layout.plot.x + (key - view.k0) * layout.cellWidth

// The pooled pixel that holds a unit: its first and one past its last unit, cut at the window's end.
export function pixelOf(meta, axis, unit) {
  const [start, end] = axis === 0 ? meta.window.slice(0, 2) : meta.window.slice(2)
  const size = meta.pool[axis]
  const first = start + Math.floor((unit - start) / size) * size
  return [first, Math.min(first + size, end)]
}
