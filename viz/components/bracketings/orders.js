// Both orders, one below the other: each product of matrices with its shapes, its cost, and the intermediate results.

import { element } from "../shared/dom.js"
import { inRoom } from "../shared/room.js"
import { fill, tidy, wholeNumber } from "../shared/words.js"
import { blanks, createMatrix, drawMatrix, largest, say, shades, signs } from "./matrices.js"
import { addsOf, stateAfter } from "./sums.js"
/** @import { State } from "./types" */

const NAMES = { left: ["q", "k", "map", "v", "o"], right: ["q", "k", "v", "state", "o"] }
const SIGNS = { left: ["(", "·", "→", ") ·", "→"], right: ["", "· (", "·", "→", ") →"] }
const HIGH = 150 // pixels of the larger of two sides
const WIDEST = 12 // pixels of a cell

export function createOrders() {
  const box = element("div", { className: "orders" })
  const found = /** @type {any} */ ({ box })
  for (const order of ["left", "right"]) {
    const parts = NAMES[order].map(createMatrix)
    const title = element("div", { className: "heading" })
    const row = element("div", { className: "product" })
    parts.forEach((part, at) => row.append(element("span", { className: "sign", "aria-hidden": "true", textContent: SIGNS[order][at] }), part.box))
    const work = element("div", { className: "work" })
    box.append(element("section", { className: order }, title, row, work))
    found[order] = { parts: Object.fromEntries(NAMES[order].map((name, at) => [name, parts[at]])), title, work }
  }
  found.same = element("div", { className: "same" })
  box.append(found.same)
  return found
}

/** @param {any} orders @param {{ state: State, theme: any, across: number }} what */
export function drawOrders(orders, { state, theme, across }) {
  const { meta, work, map, kept, left, right, off, at } = state
  const { n, d, dv, q, k, v, causal } = work
  const { texts } = meta
  const wide = across - 190 // the width of signs and gaps
  const cell = Math.max(0.4, Math.min(WIDEST, inRoom(HIGH) / Math.max(n, d), wide / (d + 2 * dv + n + Math.max(n, dv))))
  const { ahead, hidden, paper } = blanks(theme)
  const sized = (values, color) => {
    const [most, shade] = [largest(values), shades(theme, color)]
    return (i) => shade(values[i] / most)
  }
  const signed = (values, most = largest(values)) => {
    const color = signs(theme)
    return (i) => color(values[i] / most)
  }
  const row = { first: at, stop: at + 1, along: "rows" }
  const column = { ...row, along: "columns" }
  const upTo = (width, wordAt) => (i) => (Math.floor(i / width) <= at ? wordAt(i) : ahead)
  const along = (wordAt) => (i) => (i % n <= at ? wordAt(Math.floor(i / n) + (i % n) * d) : ahead) // Kᵀ: a token a column
  const outputs = (values) => (causal ? upTo(dv, signed(values)) : at === n - 1 ? signed(values) : () => ahead)
  const common = (parts, like = {}) => {
    drawMatrix(parts.q, { name: meta.query, rows: n, columns: d, cell, wordAt: causal ? upTo(d, sized(q, theme.query)) : sized(q, theme.query), marked: row }, like.q)
    drawMatrix(parts.k, { name: `${meta.key}ᵀ`, rows: d, columns: n, cell, wordAt: along(sized(k, theme.key)), marked: column }, like.k)
    drawMatrix(parts.v, { name: "V", rows: n, columns: dv, cell, wordAt: upTo(dv, sized(v, theme.value)), marked: row }, like.v)
  }
  common(orders.left.parts)
  common(orders.right.parts, orders.left.parts)
  const shown = sized(map, theme.primary)
  const cellOf = (i) => (causal && i % n > Math.floor(i / n) ? hidden : (causal ? Math.floor(i / n) : i % n) <= at ? shown(i) : ahead)
  drawMatrix(orders.left.parts.map, { name: texts.map, rows: n, columns: n, cell, wordAt: cellOf, marked: causal ? row : column })
  orders.left.parts.map.canvas.style.background = paper
  const { sums } = stateAfter(work, kept, at + 1)
  const end = kept.length > 1 ? kept[kept.length - 1] : stateAfter(work, kept, n)
  const full = Math.max(largest(sums), largest(end.sums))
  drawMatrix(orders.right.parts.state, { name: "S", rows: d, columns: dv, cell, wordAt: signed(sums, full) })
  drawMatrix(orders.left.parts.o, { name: "O", rows: n, columns: dv, cell, wordAt: outputs(left), marked: row })
  drawMatrix(orders.right.parts.o, { name: "O", rows: n, columns: dv, cell, wordAt: outputs(right), marked: row })

  const adds = addsOf(n, d, dv, n)
  const square = d === dv
  say(orders.left.title, fill(texts.left, { formula: `(${meta.query} ${meta.key}ᵀ) V` }))
  say(orders.left.work, fill(texts.left_work, { between: `n² = ${wholeNumber(n * n)}`, adds: `${square ? "2 n² d" : "n² (d + d_v)"} = ${wholeNumber(adds.left)}` }))
  say(orders.right.title, fill(texts.right, { formula: `${meta.query} (${meta.key}ᵀ V)` }))
  say(orders.right.work, fill(texts.right_work, { between: `${square ? "d²" : "d d_v"} = ${wholeNumber(d * dv)}`, adds: `${square ? "2 n d²" : "2 n d d_v"} = ${wholeNumber(adds.right)}`, from: wholeNumber(Math.floor((2 * d * dv) / (d + dv)) + 1) }))
  say(orders.same, fill(causal ? texts.same : texts.same_around, { off: tidy(off.toExponential(0)) }))
}
