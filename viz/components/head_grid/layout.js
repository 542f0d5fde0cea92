// Lay out the heads. All lengths are CSS pixels of the whole sheet, of which the scroller shows a part.

import { clamp, wholePixels } from "../shared/numbers.js"
/** @import { Head, State } from "./types" */

const LARGEST = 72 // maximum size of a cell
const SMALLEST = 10 // minimum size: if the cells do not fit, the sheet scrolls sideways
const FOR_HEIGHT = 18 // cells shrink down to this to show every layer at once: beyond that, the sheet scrolls
const LABEL = 14 // the height of that label
const EDGE = 2 // room for the selected frame beyond the last row and column

export function layOut(state, width, maxHeight, measure) {
  return state.order ? layOutRanked(state, width, maxHeight, measure) : layOutByLayer(state, width, maxHeight, measure)
}

/** @param {State} state */
function layOutByLayer({ layers, heads, meta }, width, maxHeight, measure) {
  const grouped = meta.groups > 1 && meta.groups < heads
  const left = Math.ceil(measure(`L${layers - 1}`)) + 8
  const top = grouped ? 22 : 18
  const groupGap = grouped ? 4 : 0
  const gaps = grouped ? (Math.ceil(heads / meta.groups) - 1) * groupGap : 0
  const byWidth = (width - left - gaps - EDGE) / heads
  const byHeight = Math.max((maxHeight - top - EDGE) / layers, FOR_HEIGHT)
  const pitch = wholePixels(clamp(Math.min(byWidth, byHeight), SMALLEST, LARGEST))
  return {
    left, top, pitch, groupGap, grouped, pad: padOf(pitch),
    columns: heads, rows: layers, rowHeight: pitch,
    width: left + gaps + heads * pitch + EDGE, height: top + layers * pitch + EDGE,
  }
}

// Choose the number of columns with the largest cells that show all heads; if there are too many heads, the maximum.
/** @param {State} state */
function layOutRanked({ layers, heads, order }, width, maxHeight, measure) {
  const count = order?.length ?? 0
  const label = Math.ceil(measure(`L${layers - 1}H${heads - 1}`)) + 5
  const most = clamp(Math.floor((width - 2 * EDGE) / label), 1, Math.max(1, count))
  const rowsOf = (columns) => Math.ceil(count / columns)
  const sizeOf = (columns) => Math.min((width - 2 * EDGE) / columns, (maxHeight - EDGE) / Math.max(1, rowsOf(columns)) - LABEL, LARGEST)
  const best = Array.from({ length: most }, (_, i) => i + 1).reduce((one, other) => (sizeOf(other) >= sizeOf(one) ? other : one), 1)
  const all = sizeOf(best) >= label // a cell is at least as wide as its name
  const columns = all ? best : most
  const pitch = wholePixels(all ? sizeOf(best) : Math.min((width - 2 * EDGE) / most, LARGEST))
  const rowHeight = pitch + LABEL
  return {
    left: EDGE, top: 0, pitch, groupGap: 0, grouped: false, pad: padOf(pitch),
    columns, rows: rowsOf(columns), rowHeight, width: columns * pitch + 2 * EDGE, height: rowsOf(columns) * rowHeight + EDGE,
  }
}

// How many heads are below the visible part of the sheet.
/** @param {State} state */
export function headsBelow(state) {
  const { layout, heads, order, scroller, viewHeight } = state
  const seen = Math.floor((scroller.scrollTop + viewHeight - layout.top + 1) / layout.rowHeight)
  return Math.max(0, (order ? order.length : layout.rows * heads) - Math.max(0, seen) * layout.columns)
}

const padOf = (pitch) => (pitch >= 30 ? 2 : pitch >= 14 ? 1 : 0.5)

// The head in this slot, as [layer, head], or null.
/** @type {(state: State, row: number, column: number) => Head | null} */
export function headAt(state, row, column) {
  if (!state.order) return [row, column]
  const index = row * state.layout.columns + column
  if (index >= state.order.length) return null
  return [Math.floor(state.order[index] / state.heads), state.order[index] % state.heads]
}

// The slot of this head, as [row, column], or null if the ranking leaves it out.
/** @type {(state: State, head: Head) => [row: number, column: number] | null} */
export function slotOf(state, [layer, head]) {
  if (!state.order) return [layer, head]
  const index = state.order.indexOf(layer * state.heads + head)
  return index < 0 ? null : [Math.floor(index / state.layout.columns), index % state.layout.columns]
}

// The heads that share keys and values with the selected one, including itself; empty if all share, or none does.
/** @type {(state: State) => Head[]} */
export function matesOf({ heads, meta, selected: [layer, head] }) {
  if (meta.groups < 2 || meta.groups >= heads) return []
  const first = head - (head % meta.groups)
  return Array.from({ length: meta.groups }, (_, i) => [layer, first + i])
}

// The square of a slot on the sheet, without the label above it.
/** @param {State} state */
export function squareOf({ layout, meta }, row, column) {
  const gap = layout.grouped ? Math.floor(column / meta.groups) * layout.groupGap : 0
  return {
    x: layout.left + column * layout.pitch + gap,
    y: layout.top + row * layout.rowHeight + (layout.rowHeight - layout.pitch),
    size: layout.pitch,
  }
}

// The head under a point of the sheet; null outside the heads and in a layer without weights.
/** @param {State} state */
export function hit(state, x, y) {
  const { layout, meta } = state
  const row = Math.floor((y - layout.top) / layout.rowHeight)
  if (row < 0 || row >= layout.rows) return null
  for (let column = 0; column < layout.columns; column++) {
    const square = squareOf(state, row, column)
    if (x < square.x || x >= square.x + square.size) continue
    const found = headAt(state, row, column)
    return found && meta.layer_has_weights[found[0]] ? found : null
  }
  return null
}
