// Lay out the strip: the layers as boxes with their heads or, if a model has many, as hairlines beside the open layer.
// Pure computation; nothing is drawn here.

/** @import { LayerKind, Layout, LayerRow, Place, RowLayout } from "./types" */

const GAP = 10 // pixels between two parts
const TICK = 3 // minimum width of a head
const PAD = 6 // inside a box
const LABEL = 26 // width of a layer's name beside its heads in low rows
const SMALLEST = 34 // minimum width of a box
const LARGEST = 76
const OPENED = 260 // maximum width of the open layer among hairlines
const HAIR = 12 // maximum width of a hairline and the gap after it

export const ONE_ROW = 46
export const LOW_ROW = ONE_ROW / 2 // two rows are as high as one, so that nothing below the strip moves

/** @type {(row: LayerRow, layer: number) => LayerKind} */
export const kindOf = (row, layer) => row.kinds[row.layers[layer]]

/** @type {(row: LayerRow, layer: number) => number} */
export const mostHeads = (row, layer) => Math.max(0, ...kindOf(row, layer).attentions.map((one) => one?.[0] ?? 0))

// The row whose layers have this attention, or else the last row.
/** @type {(rows: LayerRow[], attention: string) => number} */
export function rowOf(rows, attention) {
  const found = rows.findIndex((row) => row.attentions.includes(attention))
  return found < 0 ? rows.length - 1 : found
}

/** @type {(rows: LayerRow[], open: Place, width: number, widthOf: (part: string) => number) => Layout} */
export function layOutStrip(rows, open, width, widthOf) {
  const several = rows.length > 1
  const own = rowOf(rows, open[2])
  const height = several ? LOW_ROW : ONE_ROW
  const placed = rows.map((row, i) => placeRow(row, {
    top: i * height, width, widthOf, low: several, open: i === own ? open[0] : -1,
  }))
  return { width: Math.min(width, Math.ceil(Math.max(...placed.map(({ right }) => right))) + (several ? 8 : 1)), height: height * rows.length, rows: placed }
}

/** @type {(row: LayerRow, at: { top: number, width: number, widthOf: (part: string) => number, low: boolean, open: number }) => RowLayout} */
function placeRow(row, { top, width, widthOf, low, open }) {
  const inset = low ? LABEL : PAD
  const parts = []
  let left = 0
  for (const name of row.before) {
    parts.push({ name, left, width: widthOf(name) })
    left += widthOf(name) + GAP
  }
  const rest = row.after.reduce((sum, name) => sum + widthOf(name) + GAP, 0)
  const boxes = placeLayers(row, left, Math.max(0, width - left - rest), { inset, open })
  const last = boxes[boxes.length - 1]
  left = last ? last.left + last.width + GAP : left
  for (const name of row.after) {
    parts.push({ name, left, width: widthOf(name) })
    left += widthOf(name) + GAP
  }
  return { top, height: low ? LOW_ROW - 3 : ONE_ROW - 6, inset, parts, boxes, right: left - GAP }
}

/** @type {(row: LayerRow, from: number, room: number, at: { inset: number, open: number }) => RowLayout["boxes"]} */
function placeLayers(row, from, room, { inset, open }) {
  const count = row.layers.length
  const heads = row.layers.map((_, layer) => mostHeads(row, layer))
  const needed = Math.max(SMALLEST, ...heads.map((many) => many * TICK + inset + PAD))
  if (count * (needed + 4) <= room) {
    const pitch = Math.min(LARGEST, room / count)
    const gap = Math.min(GAP, Math.max(4, pitch * 0.13))
    return row.layers.map((_, layer) => ({ left: from + layer * pitch, width: pitch - gap, wide: true }))
  }
  const wide = open < 0 ? 0 : Math.min(OPENED, Math.max(SMALLEST, Math.min(room / 3, heads[open] * 4 + inset + PAD)))
  const pitch = Math.min(HAIR, (room - wide - (wide ? 4 : 0)) / Math.max(1, count - (wide ? 1 : 0)))
  let left = from
  return row.layers.map((_, layer) => {
    const own = layer === open
    const box = { left, width: own ? wide : Math.max(1, pitch - (pitch > 4 ? 2 : pitch > 2 ? 1 : 0)), wide: own }
    left += own ? wide + 4 : pitch
    return box
  })
}

// The left edge and width of each head's tick in a layer; heads that share keys and values are grouped.
/** @type {(box: { left: number, width: number }, inset: number, heads: [number, number]) => { left: number, width: number }[]} */
export function ticks(box, inset, [count, size]) {
  const room = box.width - inset - PAD
  const groups = size > 1 && size < count ? Math.ceil(count / size) : 1
  const gap = groups > 1 && (room - 2 * (groups - 1)) / count >= TICK ? 2 : 0
  const pitch = (room - gap * (groups - 1)) / count
  const width = pitch >= TICK ? pitch - 1 : pitch * 0.75
  return Array.from({ length: count }, (_, head) => ({
    left: box.left + inset + head * pitch + (groups > 1 ? Math.floor(head / size) * gap : 0), width,
  }))
}

// The vertical position of the heads of each attention in a layer's box, and of the feed-forward part below them.
/** @type {(row: RowLayout, attentions: number) => { heads: { top: number, height: number }[], ffn: { top: number, height: number } }} */
export function bands(row, attentions) {
  if (row.height > LOW_ROW) return { heads: [{ top: row.top + 16, height: 11 }], ffn: { top: row.top + 31, height: 6 } }
  const height = attentions > 1 ? 5 : 9
  const heads = Array.from({ length: attentions }, (_, i) => ({ top: row.top + 3.5 + i * (height + 1), height }))
  return { heads, ffn: { top: row.top + 15.5, height: 3 } }
}

// What a click at this point opens: a head, or a layer with the index of the open head. Null outside the layers and,
// unless `every` layer can be opened, on a layer without heads.
/** @type {(rows: LayerRow[], layout: Layout, open: Place, x: number, y: number, every?: boolean) => Place | null} */
export function placeAt(rows, layout, open, x, y, every = false) {
  const i = layout.rows.findIndex(({ top, height }) => y >= top - 2 && y < top + height + 6)
  if (i < 0) return null
  const row = rows[i]
  const at = layout.rows[i]
  const layer = nearest(at.boxes, x)
  if (layer < 0) return null
  const given = kindOf(row, layer).attentions
  const { heads } = bands(at, row.attentions.length)
  const line = heads.findIndex(({ top, height }) => y >= top - 0.5 && y < top + height + 0.5)
  const own = Math.max(0, row.attentions.indexOf(open[2]))
  const attention = line < 0 ? own : line
  const counts = given[attention]
  if (!counts) return every ? [layer, 0, row.attentions[attention]] : null
  const marks = at.boxes[layer].wide && line >= 0 ? ticks(at.boxes[layer], at.inset, counts) : []
  const head = marks.findIndex((mark, j) => x >= mark.left - 1 && x < (marks[j + 1]?.left ?? mark.left + mark.width + 1) - (marks[j + 1] ? 1 : 0))
  return [layer, head < 0 ? Math.min(open[1], counts[0] - 1) : head, row.attentions[attention]]
}

/** @type {(boxes: RowLayout["boxes"], x: number) => number} */
function nearest(boxes, x) {
  for (let layer = 0; layer < boxes.length; layer++) {
    const end = boxes[layer + 1]?.left ?? boxes[layer].left + boxes[layer].width + 1
    if (x >= boxes[layer].left - 1 && x < end - 1) return layer
  }
  return -1
}

// The next head or layer that can be opened in this direction; null at the end. The head's index is kept if the layer
// has that many heads.
/** @type {(rows: LayerRow[], open: Place, step: { layers?: number, heads?: number }, every?: boolean) => Place | null} */
export function beside(rows, [layer, head, attention], { layers = 0, heads = 0 }, every = false) {
  const row = rows[rowOf(rows, attention)]
  const own = Math.max(0, row.attentions.indexOf(attention))
  const count = (at) => kindOf(row, at).attentions[own]?.[0] ?? 0
  if (heads) return head + heads >= 0 && head + heads < count(layer) ? [layer, head + heads, attention] : null
  for (let next = layer + layers; next >= 0 && next < row.layers.length; next += layers) {
    if (count(next) || every) return [next, Math.max(0, Math.min(head, count(next) - 1)), attention]
  }
  return null
}
