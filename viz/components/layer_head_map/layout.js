// Lay out the cells. All lengths are CSS pixels of the whole sheet, of which the scroller shows a part.

import { clamp, wholePixels } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
/** @import { State } from "./types" */

const LARGEST = 64 // maximum width of a cell
const NARROWEST = 10 // minimum width: if the cells do not fit, the sheet scrolls sideways
const LOWEST = 14 // minimum height: if the cells do not fit, the sheet scrolls
const WIDEST = 2 // maximum ratio of width to height: room for a number in a cell
const FOR_WORDS = { narrowest: 54, largest: 128, lowest: 18, highest: 34 } // for cells with words
export const SLOPE = Math.PI / 3
export const LONGEST_LABEL = 110
const EDGE = 3 // room for the frame of the open cell beyond the last row and column
export const GROUP_GAP = 4 // between groups of heads that share keys and values, and beside the labels for the groups' lines

/** @param {State} state */
export function layOut({ meta, rows, columns, rowLabels, columnLabels }, width, measure) {
  const [columnGroup, rowGroup] = [groupAlong(meta, "columns", columns), groupAlong(meta, "rows", rows)]
  const [gapsX, gapsY] = [startOf(0, columnGroup, columns - 1), startOf(0, rowGroup, rows - 1)]
  const widest = (labels) => Math.ceil(Math.min(LONGEST_LABEL, Math.max(0, ...labels.map(measure))))
  const left = widest(rowLabels) + 8 + (rowGroup ? GROUP_GAP : 0)
  const across = widest(columnLabels)
  const { narrowest, largest, lowest, highest } = meta.words
    ? FOR_WORDS
    : { narrowest: NARROWEST, largest: LARGEST, lowest: LOWEST, highest: LARGEST }
  const upright = wholePixels(clamp((width - left - gapsX - EDGE) / columns, narrowest, largest))
  const slanted = meta.column_labels !== null && !meta.words && across > upright - 4
  const overhang = slanted ? Math.ceil(across * Math.cos(SLOPE)) : 0
  const top = (slanted ? Math.ceil(across * Math.sin(SLOPE)) + 12 : 18) + (columnGroup ? GROUP_GAP : 0)
  const byWidth = clamp((width - left - gapsX - overhang - EDGE) / columns, narrowest, largest)
  const byHeight = clamp((inRoom(meta.max_height) - top - gapsY - EDGE) / rows, lowest, highest)
  const pitchY = wholePixels(Math.min(byHeight, Math.max(byWidth, lowest)))
  const pitchX = wholePixels(meta.words ? byWidth : Math.min(byWidth, WIDEST * pitchY))
  return {
    left, top, pitchX, pitchY, slanted, columnGroup, rowGroup,
    gap: Math.min(pitchX, pitchY) >= 18 ? 1 : 0.5,
    width: left + columns * pitchX + gapsX + EDGE + overhang,
    height: top + rows * pitchY + gapsY + EDGE,
  }
}

// How many neighbours along an axis share keys and values; 0 if all share them, or none does.
const groupAlong = ({ group, group_axis }, axis, count) => (group_axis === axis && group > 1 && group < count ? group : 0)

// The start of the cell with this index along its axis.
const startOf = (pitch, group, index) => index * pitch + (group ? Math.floor(index / group) * GROUP_GAP : 0)

// The upper left corner of a cell on the sheet.
export const cornerOf = ({ layout }, row, column) => [
  layout.left + startOf(layout.pitchX, layout.columnGroup, column),
  layout.top + startOf(layout.pitchY, layout.rowGroup, row),
]

// The cells that share keys and values with the open one, including itself; empty if there are no groups.
/** @param {State} state */
export function matesOf({ layout, meta, open }) {
  const group = layout.columnGroup || layout.rowGroup
  if (!open || !group) return []
  const [row, column] = open
  const first = (index) => index - (index % group)
  const mates = Array.from({ length: group }, (_, i) => (layout.columnGroup ? [row, first(column) + i] : [first(row) + i, column]))
  return mates.filter(([at]) => !(at in meta.notes))
}

// The cell under a point of the sheet, as [row, column]; null outside the cells and in a row that has only a note.
/** @param {State} state */
export function hit({ layout, rows, columns, meta }, x, y) {
  const row = indexAt(layout.pitchY, layout.rowGroup, rows, y - layout.top)
  const column = indexAt(layout.pitchX, layout.columnGroup, columns, x - layout.left)
  return row < 0 || column < 0 || row in meta.notes ? null : [row, column]
}

// The index of the cell at a place along its axis; -1 before, between and after the cells.
function indexAt(pitch, group, count, place) {
  const together = group || count
  const step = together * pitch + GROUP_GAP
  const [number, within] = [Math.floor(place / step), place - Math.floor(place / step) * step]
  const found = number * together + Math.floor(within / pitch)
  return within < together * pitch && found >= 0 && found < count ? found : -1
}
