// Where the large picture's parts lie, in CSS pixels, and which cell is under a point.

import { contextOf } from "../shared/canvas.js"
import { inRoom, pointIn, sharpness } from "../shared/room.js"
/** @import { State } from "./types" */

export const NARROW_VIEW = 620
const LIST_WIDTH = 270 // of the small pictures beside the large one, the gap included
export const LEAN = Math.PI / 3 // key labels lean by 60°
export const LABEL = 12
export const LONGEST_LABEL = 104
const LARGEST_CELL = 46

/** @param {State} state */
export function layOut(state, rootWidth) {
  const { meta, theme, n } = state
  const narrow = rootWidth < NARROW_VIEW
  const width = narrow ? rootWidth : rootWidth - LIST_WIDTH
  const context = contextOf(state.tile)
  context.font = `${LABEL}px ${theme.font}`
  const measured = meta.tokens.map((label) => Math.min(LONGEST_LABEL, context.measureText(label).width))
  const widest = Math.max(...measured)
  const [x, y] = [26 + Math.ceil(widest), 22 + Math.ceil(widest * Math.sin(LEAN))]
  const tail = Math.max(4, Math.ceil(measured[n - 1] * Math.cos(LEAN)) - 6) // what the last label reaches beyond its cell
  const below = narrow ? 8 : 116 // controls, words and legend under the picture
  const room = Math.min(width - x - tail, Math.max(180, inRoom(meta.max_height) - y - below))
  const ratio = sharpness()
  let cell = Math.min(LARGEST_CELL, room / n)
  if (cell * ratio >= 10) cell = Math.floor(cell * ratio) / ratio // whole pixels: every cell alike
  return { x, y, cell, narrow, width, side: cell * n, height: y + cell * n + 6 }
}

export function cellAt({ layout, canvas, n }, event) {
  const { x, y } = pointIn(event, canvas)
  const key = Math.floor((x - layout.x) / layout.cell)
  const query = Math.floor((y - layout.y) / layout.cell)
  return query >= 0 && key >= 0 && query < n && key < n ? [query, key] : null
}

// Whether a key is the query's future: to an encoder none is.
export const isFuture = ({ meta }, query, key) => meta.causal && key > query

// Whether a cell was painted and is hidden: a query that would see nothing keeps itself.
export const isHidden = ({ hidden, given }, query, key) => hidden.has(`${query},${key}`) && !(query === key && given.has(query))
