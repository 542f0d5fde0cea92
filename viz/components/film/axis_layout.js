// Where the parts of the axis stand, in CSS pixels.

import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { lastFrame } from "./frames.js"
/** @import { State } from "./payload" */

const GUTTER = 54 // room for the names of the rows
const BARS = 64
const STRIP = 168 // the most that the rows of all heads take together
const DEEP = 128 // the most that keys, and values, take
const GAP = 12
const WIDEST = 34
const LABEL = 12 // a column must be this wide for a slanted label
const NAMED = 8 // columns at most where not all of them have room,
const APART = 14 // and the pixels from one name to the next
export const MASKED = 255 // in a strip; 0..254 is a weight

// Where everything stands, in CSS pixels, for this width.
/** @param {State} state */
export function axisLayout({ reel, meta }, width) {
  const bin = meta.view.bin
  const columns = Math.ceil((reel.prompt.labels.length + Math.max(meta.limit, lastFrame(reel))) / bin)
  const cell = Math.min(WIDEST, (width - GUTTER - 4) / columns)
  const nHeads = meta.view.heads.length
  const slanted = cell >= LABEL && bin === 1
  let y = slanted ? 70 : 84
  const parts = /** @type {Record<string, any>} */ ({ bars: { y, height: BARS } })
  y += BARS + GAP
  if (nHeads) {
    const row = clamp(inRoom(STRIP) / nHeads, 1, inRoom(9))
    parts.strip = { y, height: Math.max(row * nHeads, 8), row }
    y += parts.strip.height + GAP
  }
  for (const name of ["k", "v"]) {
    const depth = reel[name][0]?.length ?? 1
    parts[name] = { y, height: clamp(depth * 2, 24, inRoom(nHeads ? Math.max(64, depth) : DEEP)) }
    y += parts[name].height + (name === "k" ? 5 : 0)
  }
  return { width, height: y + 2, left: GUTTER, cell, columns, bin, slanted, parts }
}

// Where not all columns have room for a name: the new token's, and those that are looked at most. Each as [column, x of
// its name], the names apart, none of them beyond `width`.
/** @type {(row: ArrayLike<number>, now: number, at: { left: number, cell: number, width: number }) => [column: number, x: number][]} */
export function namedColumns(row, now, { left, cell, width }) {
  const most = Array.from(row).flatMap((value, column) => (column !== now && value > 0.02 ? [column] : []))
  most.sort((a, b) => row[b] - row[a])
  const columns = [now, ...most.slice(0, NAMED - 1)].sort((a, b) => a - b)
  const places = columns.map((column) => left + (column + 0.5) * cell)
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + APART)
  let end = width - APART / 2
  for (let i = places.length - 1; i >= 0; i--, end -= APART) places[i] = Math.min(places[i], end)
  return columns.map((column, i) => [column, places[i]])
}

export function place({ layout }, x, y) {
  if (!layout) return null
  const column = Math.floor((x - layout.left) / layout.cell)
  if (column < 0 || column >= layout.columns) return null
  for (const [part, { y: top, height, row }] of Object.entries(layout.parts)) {
    if (y >= top && y < top + height) return { part, column, row: row ? Math.floor((y - top) / row) : 0 }
  }
  return null
}
