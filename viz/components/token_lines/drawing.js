// The figure as a whole: two columns of labels, every visible line, titles and legend.

import { fitText, measuring } from "../shared/canvas.js"
import { element, svg } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { css } from "../shared/theme.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
/** @import { State } from "./types" */

const fontOf = (theme) => `600 13px ${theme.font}`

// Below this width the lines need the room: percentages are whole numbers and replace a key's position.
const COMPACT = 320

/** @param {State} state */
export function layout(state, theme) {
  const { root } = state
  const { queries, keys, head_labels: heads, query_offset: q0, key_offset: k0 } = state.meta
  const width = Math.max(200, Math.min(root.clientWidth || 600, 760)) - 8 // room for the inner scrollbar
  const pen = measuring(fontOf(theme)) // the widths of labels when highlighted
  const wide = (labels) => Math.max(20, ...labels.map((label) => pen.measureText(label).width)) + 4
  const place = 14 + 6.2 * String(Math.max(q0 + queries.length, k0 + keys.length) - 1).length
  const compact = width < COMPACT
  const gap = compact ? 7 : 12 // between a label and its lines
  const column = compact ? 42 : 56 // width of one head's percentages
  const amounts = column * heads.length
  const aside = compact ? Math.max(place, amounts) : place + amounts // width of what is right of a key
  const share = Math.max(40, (width - place - aside) * (!compact ? 0.34 : heads.length > 1 ? 0.31 : 0.35))
  const [queryWidth, keyWidth] = [queries, keys].map((labels) => Math.min(wide(labels), share))
  const rows = Math.max(queries.length, keys.length, 1)
  const height = clamp((inRoom(state.meta.max_height) - 60) / rows, 20, 26)
  const left = place + queryWidth + gap
  const right = width - aside - keyWidth - gap
  return { width, compact, gap, place, column, queryWidth, keyWidth, rows, row: height, left, right }
}

export const middle = (at, row) => (row + 0.5) * at.row

// Draw the rows. They are most of the picture and the same for every head, so they are redrawn only when they change.
/** @param {State} state */
export function drawRows(state) {
  const { meta, at, scroller } = state
  const drawn = JSON.stringify([meta.queries, meta.keys, meta.query_offset, meta.key_offset, at])
  if (state.drawn === drawn) return
  const height = at.rows * at.row
  const [all, active] = [svg("g", { class: "all" }), svg("g", { class: "active" })]
  const picture = svg("svg", { width: at.width, height, viewBox: `0 0 ${at.width} ${height}` }, all, active)
  for (const side of ["query", "key"]) {
    const labels = side === "query" ? meta.queries : meta.keys
    labels.forEach((label, row) => picture.append(rowNode(state, side, row, label)))
  }
  Object.assign(state, { all, active, drawn })
  const { scrollTop } = scroller
  scroller.replaceChildren(picture)
  scroller.scrollTop = scrollTop
}

/** @param {State} state */
function rowNode(state, side, row, label) {
  const { at, meta } = state
  const query = side === "query"
  const position = row + (query ? meta.query_offset : meta.key_offset)
  const [y, x] = [row * at.row, query ? 0 : at.right]
  const width = query ? at.left : at.width - at.right
  const labelWidth = query ? at.queryWidth : at.keyWidth
  const baseline = middle(at, row) + 4.5
  const edge = query ? at.place + labelWidth : at.right + at.gap
  const hit = svg("rect", { x, y, width, height: at.row, fill: "transparent" })
  const tint = svg("rect", { class: "tint", x: edge - (query ? labelWidth + 4 : 4), y: y + 1.5, width: labelWidth + 8, height: at.row - 3, rx: 3, fill: "none" })
  const frame = svg("rect", { class: "frame", x: edge - (query ? labelWidth + 5 : 5), y: y + 1.5, width: labelWidth + (query ? 10 : 6), height: at.row - 3, rx: 3 })
  const text = svg("text", { x: edge, y: baseline, "text-anchor": query ? "end" : "start" })
  text.textContent = isolate(fitText(measuring(fontOf(state.theme)), label, labelWidth + 1))
  const placeX = query ? 2 : at.compact ? at.width - 2 : edge + labelWidth + 8
  const anchor = at.compact && !query ? "end" : "start"
  const place = svg("text", { class: "place", x: placeX, y: baseline - 0.5, "text-anchor": anchor })
  place.textContent = String(position)
  const title = svg("title", {})
  title.textContent = `${isolate(label)} · ${position}`
  const group = svg("g", { class: `row ${side}`, "data-side": side, "data-row": row, "data-position": position }, title, hit, tint)
  group.append(frame, text, place)
  return group
}

// One curve per visible weight, horizontal at both ends, whose width and opacity increase with the weight.
// `wanted(query, key)` selects the cells; `faintest` is the minimum opacity.
/** @param {State} state */
export function curves(state, wanted, faintest = 0) {
  const { at, meta, colors, weights } = state
  const nodes = []
  const [heads, rows, columns] = weights.shape
  const bend = (at.right - at.left) * 0.4
  for (let cell = 0; cell < weights.length; cell++) {
    const weight = weights[cell]
    if (!(weight >= meta.threshold)) continue // NaN, a masked cell, fails this too
    const [head, query, key] = [Math.floor(cell / (rows * columns)), Math.floor(cell / columns) % rows, cell % columns]
    if (!wanted(query, key)) continue
    const shift = (head - (heads - 1) / 2) * 2.5 // two heads' curves side by side, not on top of each other
    const [y1, y2] = [middle(at, query) + shift, middle(at, key) + shift]
    const d = `M${at.left},${y1}C${at.left + bend},${y1} ${at.right - bend},${y2} ${at.right},${y2}`
    const look = { "stroke-opacity": (faintest + (1 - faintest) * weight).toFixed(3), "stroke-width": (0.8 + 3 * weight).toFixed(2) }
    nodes.push(svg("path", { d, stroke: css(colors[head]), ...look }))
  }
  return nodes
}

/** @param {State} state */
export function drawTitles({ titles, at, meta }) {
  const query = element("span", { className: "queries-title", textContent: meta.texts.queries ?? "" })
  const key = element("span", { className: "keys-title", textContent: meta.texts.keys ?? "" })
  titles.replaceChildren(query, key)
  // Align each title with the end or start of its labels, unless it would leave the figure or touch the other title.
  const queryEnd = Math.max(at.place + at.queryWidth, query.offsetWidth)
  query.style.left = `${queryEnd - query.offsetWidth}px`
  key.style.left = `${Math.max(Math.min(at.right + at.gap, at.width - key.offsetWidth), queryEnd + 12)}px`
}

/** @param {State} state */
export function drawLegend({ legend, meta, colors }) {
  const { texts } = meta
  const heads = meta.head_labels.map((label, head) => {
    const swatch = element("i")
    swatch.style.background = css(colors[head])
    return element("span", { className: "head" }, swatch, label)
  })
  const value = formatNumber(meta.threshold, "percent", texts).replace(/\.0(?=\D|$)/, "")
  const notes = [fill(texts.threshold, { value })]
  if (meta.cut) notes.push(fill(texts.cut, { count: meta.max_rows }))
  legend.replaceChildren(...heads, ...notes.map((note) => element("span", { textContent: note })))
}
