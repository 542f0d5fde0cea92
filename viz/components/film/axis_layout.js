// Positions of the parts of the axis, in CSS pixels: every token has a column, which its chip, its row cells, its key
// and its value share.

import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
/** @import { State } from "./types" */

const GUTTER = 54 // room for the names of the rows
const SIZES = [[15, 18, 6], [13, 9, 3]] // of a chip: its letters, the padding of its label, the gap after it
const CHIP = [24, 170] // minimum and maximum width of a chip
const WIDEST = 34 // of a column that is as wide as its neighbours
const LABEL = 14 // such a column has room for a label
const NAMED = 8 // columns at most where not all of them have room,
const APART = 14 // and the pixels from one name to the next
const ARCS = [18, 64] // heights of the nearest and of the farthest arc
const WORDS = { words: 72, named: 92 } // room for labels that stand on their side
const LEAST_WORDS = 60 // in a low window
const LAYERS = 150 // the most height of all rows of the layers,
const HEADS = 96 // and those of the open layer's heads
const DEEP = 128 // the most height of keys, and of values, where no rows are above them
const GAP = 12
export const MASKED = 255 // in a strip; 0..254 is a weight

// Where everything is in a figure of this width. `mode` is "chips" if the chips of the text are over their columns,
// "words" if there is only room for labels on their side, and "named" if only some columns have a name.
/** @type {(state: State, width: number, measure: (text: string, size: number) => number) => any} */
export function axisLayout(state, width, measure) {
  const { reel, meta, shown } = state
  const bin = meta.view.bin
  const tokens = reel.prompt.labels.length + shown
  const columns = Math.ceil(tokens / bin)
  const room = width - GUTTER - 4
  const found = bin === 1 && chipLane(itemsOf(reel, shown), room, measure)
  const cell = Math.min(WIDEST, room / columns)
  const mode = cell >= LABEL && bin === 1 ? "words" : "named"
  const even = { mode, cell, left: evenly(columns, cell), wide: Array(columns).fill(cell - (cell > 6 ? 1 : 0)) }
  const lane = found || even
  const arcs = inRoom(ARCS[1] + (width < 500 ? 0 : 12))
  const layout = { ...lane, width, columns, bin, gutter: GUTTER, base: arcs, above: arcs + (found ? 0 : Math.max(LEAST_WORDS, inRoom(WORDS[mode]))) }
  return { ...layout, ...rowsLayout(state) }
}

const evenly = (columns, cell) => Array.from({ length: columns }, (_, column) => GUTTER + column * cell)

// Chips over their columns, in the largest letters with which all of them fit; null if they do not fit.
function chipLane(items, room, measure) {
  if (items.length * CHIP[0] > room) return null
  for (const [size, around, gap] of SIZES) {
    const widths = items.map(({ label, count }) => Math.max(CHIP[0], 8 * count, Math.min(CHIP[1], Math.ceil(measure(label, size)) + around)))
    if (widths.reduce((sum, wide) => sum + wide + gap, -gap) > room) continue
    const lane = { mode: "chips", size, chips: /** @type {[number, number][]} */ ([]), left: /** @type {number[]} */ ([]), wide: /** @type {number[]} */ ([]) }
    let x = GUTTER
    items.forEach(({ count }, i) => {
      lane.chips.push([x, widths[i]])
      const share = widths[i] / count // the bytes of a character share its chip
      for (let token = 0; token < count; token++) {
        lane.left.push(x + token * share)
        lane.wide.push(share - (count > 1 ? 1 : 0))
      }
      x += widths[i] + gap
    })
    return lane
  }
  return null
}

// The chips of the text: those of the prompt, then a generated token each.
function itemsOf({ prompt, frames }, shown) {
  const { units, labels } = prompt
  const read = units.map(([label, start], i) => ({ label, count: (units[i + 1]?.[1] ?? labels.length) - start }))
  return [...read, ...frames.slice(1, shown + 1).map(({ label }) => ({ label, count: 1 }))]
}

// The rows below the text: runs of rows of one height, a row per layer or, for the open one, per head; then keys and
// values.
/** @param {State} state */
function rowsLayout({ reel, meta }) {
  const { heads } = meta.view
  const rows = heads.length ? heads : [meta.view.head]
  const pooled = rows.filter(([, head]) => head === null).length
  const heights = {
    layer: clamp(inRoom(LAYERS) / Math.max(1, pooled), 2, inRoom(18)),
    head: clamp(inRoom(HEADS) / (rows.length - pooled), 2, inRoom(heads.length ? 12 : 18)),
  }
  const runs = /** @type {{ first: number, count: number, y: number, row: number }[]} */ ([])
  let y = 4
  rows.forEach(([, head], i) => {
    const row = head === null ? heights.layer : heights.head
    const run = runs.at(-1)
    if (run && (rows[i - 1][1] === null) === (head === null)) run.count += 1
    else {
      if (run) y += 3
      runs.push({ first: i, count: 1, y, row })
    }
    y += row
  })
  y += inRoom(GAP)
  const cache = {}
  for (const name of ["k", "v"]) {
    const depth = reel[name][0]?.length ?? 1
    cache[name] = { y, height: clamp(depth * 1.5, 24, inRoom(heads.length ? 40 : DEEP)) }
    y += cache[name].height + (name === "k" ? 5 : 0)
  }
  return { runs, cache, height: y + 3 }
}

// The position of a row: its run's, counted from the top.
export const rowBox = ({ runs }, row) => {
  const run = runs.find(({ first, count }) => row >= first && row < first + count)
  return { y: run.y + (row - run.first) * run.row, height: run.row }
}

// The distance of a column's middle from the figure's left edge.
export const middleOf = ({ left, wide }, column) => left[column] + wide[column] / 2

// The height of an arc over this distance: the longer the higher, within the room there is.
export const arcHeight = (distance) => inRoom(Math.min(ARCS[1], ARCS[0] + 0.16 * Math.abs(distance)))

// Where not all columns have room for a name: the new token's, and those with the largest weights. Each as [column, x
// of its name], with gaps between the names, none of them beyond `width`.
/** @type {(row: ArrayLike<number>, now: number, at: { left: number[], wide: number[], width: number }) => [column: number, x: number][]} */
export function namedColumns(row, now, at) {
  const most = Array.from(row).flatMap((value, column) => (column !== now && value > 0.02 ? [column] : []))
  most.sort((a, b) => row[b] - row[a])
  const columns = [now, ...most.slice(0, NAMED - 1)].sort((a, b) => a - b)
  const places = columns.map((column) => middleOf(at, column))
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + APART)
  let end = at.width - APART / 2
  for (let i = places.length - 1; i >= 0; i--, end -= APART) places[i] = Math.min(places[i], end)
  return columns.map((column, i) => [column, places[i]])
}

// What is at a point of the canvas: a row of weights, or the keys or values; null outside them.
export function place({ layout }, x, y) {
  if (!layout) return null
  const column = layout.left.findIndex((left, i) => x >= left && x < (layout.left[i + 1] ?? left + layout.wide[i]))
  if (column < 0) return null
  for (const { first, count, y: top, row } of layout.runs) {
    if (y >= top && y < top + count * row) return { part: "strip", column, row: first + Math.floor((y - top) / row) }
  }
  for (const part of ["k", "v"]) {
    const { y: top, height } = layout.cache[part]
    if (y >= top && y < top + height) return { part, column, row: 0 }
  }
  return null
}
