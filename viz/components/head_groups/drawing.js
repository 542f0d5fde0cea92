// The figures: a row of query heads, below it the key/value heads that they read, and below means the heads that were
// averaged.

import { svg } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { thinning } from "../shared/ticks.js"
import { countsOf, groupOf, readsOf, sizeOf, summaryOf, titleOf } from "./words.js"
/** @import { State } from "./types" */

const PITCH = 60 // the widest place of a query head
const SQUARE = 20 // the largest side of a head
const FALL = 31 // from one row to the next
const LABEL = 15 // the height of a line of labels
const MARGIN = 78 // where the rows' names stand, in a wide figure
const BLEED = 4

// The figures have the same height, so that their rows are level, unless they are stacked.
/** @param {State} state */
function layOut({ meta, narrow, pooled }, width, isPooled) {
  const left = width > 330 ? MARGIN : BLEED
  const pitch = Math.min(PITCH, (width - left - BLEED) / meta.n_heads)
  const side = clamp(pitch * 0.62, 2, Math.min(SQUARE, inRoom(SQUARE)))
  const [top, fall] = [LABEL + 2, inRoom(FALL)]
  const rows = [top, top + side + fall, top + 2 * (side + fall)]
  const last = pooled < meta.own && (isPooled || !narrow) ? 2 : 1
  return { width, left, pitch, side, rows, height: rows[last] + side + 3, named: left === MARGIN }
}

// The middle of the slot that one of `count` evenly spread heads has below the query heads.
const middleOf = ({ left, pitch }, meta, count, i) => left + pitch * (meta.n_heads / count) * (i + 0.5)

// One figure: with `isPooled`, the means are between the queries and the model's own key/value heads.
/** @param {State} state */
export function drawPanel(state, panel, isPooled, width) {
  const { meta } = state
  const kvHeads = isPooled ? state.pooled : meta.own
  const at = layOut(state, width, isPooled)
  const averaged = isPooled && kvHeads < meta.own
  const lines = svg("g", { class: "lines" })
  const heads = svg("g", { class: "heads" })
  for (let head = 0; head < meta.n_heads; head++) {
    const group = groupOf(meta, kvHeads, head)
    lines.append(lineNode(at, [middleOf(at, meta, meta.n_heads, head), 0], [middleOf(at, meta, kvHeads, group), 1], [head, 1]))
    heads.append(queryNode(state, at, head))
  }
  for (let group = 0; group < kvHeads; group++) heads.append(pairNode(state, at, kvHeads, group, 1, averaged))
  for (let kv = 0; kv < (averaged ? meta.own : 0); kv++) {
    const [first, size] = [kv * sizeOf(meta, meta.own), sizeOf(meta, meta.own)]
    const group = groupOf(meta, kvHeads, first)
    lines.append(lineNode(at, [middleOf(at, meta, kvHeads, group), 1], [middleOf(at, meta, meta.own, kv), 2], [first, size]))
    heads.append(pairNode(state, at, meta.own, kv, 2, false))
  }
  panel.title.textContent = titleOf(state, isPooled)
  panel.counts.textContent = countsOf(state, kvHeads)
  const picture = panel.picture
  for (const [name, value] of Object.entries({ width, height: at.height, viewBox: `0 0 ${width} ${at.height}` })) picture.setAttribute(name, value)
  picture.setAttribute("aria-label", summaryOf(state, kvHeads, isPooled))
  picture.replaceChildren(lines, heads, ...labelNodes(state, at), ...nameNodes(state, at, averaged))
  panel.kvHeads = kvHeads
}

// A line from a head of one row to one of the next; it belongs to `count` query heads from `first` on.
function lineNode(at, [x1, row1], [x2, row2], [first, count]) {
  const [y1, y2] = [at.rows[row1] + at.side + 1, at.rows[row2] - 1]
  const bend = (y2 - y1) * 0.5
  const d = `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`
  return svg("path", { d, "data-first": first, "data-count": count })
}

/** @param {State} state */
function queryNode(state, at, head) {
  const x = middleOf(at, state.meta, state.meta.n_heads, head)
  const hit = svg("rect", { class: "hit", x: x - at.pitch / 2, y: 0, width: at.pitch, height: at.rows[0] + at.side + 8 })
  const box = svg("rect", { class: "q", x: x - at.side / 2, y: at.rows[0], width: at.side, height: at.side, rx: Math.min(3, at.side / 5) })
  return svg("g", { class: "head", "data-head": head, "data-first": head, "data-count": 1 }, hit, box)
}

// A key and a value side by side, read by every query head of its group.
/** @param {State} state */
function pairNode(state, at, kvHeads, group, row, mean) {
  const { meta } = state
  const size = sizeOf(meta, kvHeads)
  const x = middleOf(at, meta, kvHeads, group)
  const y = at.rows[row]
  const wide = Math.max(1.5, Math.min(at.side, (size * at.pitch - 3) / 2))
  const round = Math.min(3, wide / 5)
  const hit = svg("rect", { class: "hit", x: x - (size * at.pitch) / 2, y: y - 8, width: size * at.pitch, height: at.side + 16 })
  const key = svg("rect", { class: "k", x: x - wide - 0.5, y, width: wide, height: at.side, rx: round })
  const value = svg("rect", { class: "v", x: x + 0.5, y, width: wide, height: at.side, rx: round })
  const node = svg("g", { class: "head pair", "data-kv": group, "data-row": row, "data-first": group * size, "data-count": size }, hit, key, value)
  node.classList.toggle("mean", mean)
  return node
}

// Names of heads where there is room for them.
/** @param {State} state */
function labelNodes({ meta }, at) {
  const every = thinning(25, at.pitch)
  const nodes = []
  for (let head = 0; head < meta.n_heads; head += every) {
    const label = svg("text", { class: "label", x: middleOf(at, meta, meta.n_heads, head), y: LABEL - 4, "text-anchor": "middle", "data-first": head, "data-count": 1 })
    label.textContent = `H${head}`
    nodes.push(label)
  }
  return nodes
}

/** @param {State} state */
function nameNodes({ meta }, at, averaged) {
  if (!at.named) return []
  const { texts } = meta
  const words = averaged ? [texts.queries, texts.means, texts.keys_values] : [texts.queries, texts.keys_values]
  return words.map((word, row) => {
    const name = svg("text", { class: "name", x: 0, y: at.rows[row] + at.side / 2 + 4 })
    name.textContent = word
    return name
  })
}

// The group of the head under the pointer is highlighted, the open head framed.
/** @param {State} state */
export function light(state, panel) {
  const shown = state.hovered ?? state.head
  const size = sizeOf(state.meta, panel.kvHeads)
  const from = groupOf(state.meta, panel.kvHeads, shown) * size
  for (const node of panel.picture.querySelectorAll("[data-first]")) {
    const [first, count] = [Number(node.dataset.first), Number(node.dataset.count)]
    node.classList.toggle("lit", first < from + size && first + count > from)
    if ("head" in node.dataset) node.classList.toggle("open", first === state.head)
  }
  panel.readout.textContent = readsOf(state, panel.kvHeads, shown)
}

// ---- the options ----------------------------------------------------------------------------------------------------

const SMALL = { width: 64, height: 24 }

/** @param {State} state */
export function smallPicture({ meta }, kvHeads) {
  const { width, height } = SMALL
  const step = width / meta.n_heads
  const size = meta.n_heads / kvHeads
  const mark = Math.max(0.8, Math.min(4, step * 0.6))
  const nodes = []
  for (let head = 0; head < meta.n_heads; head++) {
    const [x, below] = [step * (head + 0.5), step * size * (Math.floor(head / size) + 0.5)]
    nodes.push(svg("path", { d: `M${x},5L${below},${height - 5}` }))
    nodes.push(svg("rect", { class: "q", x: x - mark / 2, y: 1, width: mark, height: 4 }))
  }
  for (let group = 0; group < kvHeads; group++) {
    const x = step * size * (group + 0.5)
    nodes.push(svg("rect", { class: "k", x: x - mark, y: height - 5, width: mark, height: 4 }))
    nodes.push(svg("rect", { class: "v", x, y: height - 5, width: mark, height: 4 }))
  }
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...nodes)
}
