// Lightning: the map in blocks, those on the diagonal by the left product, all others by the state; and the output's
// parts.

import { element } from "../shared/dom.js"
import { inRoom } from "../shared/room.js"
import { fill, tidy, wholeNumber } from "../shared/words.js"
import { blanks, colorText, createMatrix, drawMatrix, largest, say, shades, signs } from "./matrices.js"
import { addsOf, cellsOf, stateAfter } from "./sums.js"
/** @import { State } from "./types" */

const LARGEST = 300 // pixels on a side of the map
const PARTS_HIGH = 200 // and of the others

export function createBlocks() {
  const [map, state, intra, inter, o] = ["map", "state", "intra", "inter", "o"].map(createMatrix)
  const sign = (textContent) => element("span", { className: "sign", "aria-hidden": "true", textContent })
  const names = ["intra", "inter"].map((name) => element("div", { className: `key ${name}` }, element("i", {}), element("span", {})))
  const sum = element("div", { className: "product" }, intra.box, sign("+"), inter.box, sign("="), o.box)
  const [reads, work, same] = ["heading", "work", "same"].map((className) => element("div", { className }))
  const side = element("div", { className: "side" }, ...names, reads, element("div", { className: "product" }, state.box), sum, work, same)
  return { box: element("div", { className: "blocks" }, map.box, side), map, state, intra, inter, o, names, reads, work, same }
}

/** @param {any} parts @param {{ state: State, theme: any, step: number, across: number }} what */
export function drawBlocks(parts, { state, theme, step, across }) {
  const { meta, work, map, kept, left, blocks, total, off, block } = state
  const { n, d, dv } = work
  const { texts } = meta
  const [start, stop] = [step * block, Math.min(n, (step + 1) * block)]
  const wide = across
  const side = Math.max(n, Math.min(inRoom(LARGEST), wide)) / n
  const room = wide > 700 ? wide - side * n - 110 : wide - 70
  const cell = Math.max(0.3, Math.min(8, inRoom(PARTS_HIGH) / Math.max(n, d), room / (3 * dv)))
  const { ahead, hidden, paper } = blanks(theme)
  const most = Math.sqrt(largest(map))
  const [own, before] = [shades(theme, theme.primary), shades(theme, theme.compare)]
  const colorOf = (i) => {
    const [r, c] = [Math.floor(i / n), i % n]
    if (c > r) return hidden
    if (r >= stop) return ahead
    const size = 0.15 + (0.85 * Math.sqrt(Math.abs(map[i]))) / most // makes small weights visible
    return Math.floor(r / block) === Math.floor(c / block) ? own(size) : before(size)
  }
  drawMatrix(parts.map, { name: `${meta.query} ${meta.key}ᵀ`, rows: n, columns: n, cell: side, wordAt: colorOf, marked: { first: start, stop, along: "rows" } })
  parts.map.canvas.style.background = paper
  const signed = (values, high) => {
    const color = signs(theme)
    return (i) => color(values[i] / high)
  }
  const { sums } = stateAfter(work, kept, start)
  drawMatrix(parts.state, { name: texts.state, rows: d, columns: dv, cell, wordAt: signed(sums, largest(sums)) })
  const high = largest(left)
  const rows = { first: start, stop, along: "rows" }
  const shown = { intra: blocks.intra, inter: blocks.inter, o: total }
  const called = { intra: texts.intra_name, inter: texts.inter_name, o: "O" }
  for (const name of ["intra", "inter", "o"]) {
    const color = signed(shown[name], high)
    const wordAt = (i) => (Math.floor(i / dv) < stop ? color(i) : ahead)
    drawMatrix(parts[name], { name: called[name], rows: n, columns: dv, cell, wordAt, marked: rows })
  }
  const [cells, adds] = [cellsOf(n, block), addsOf(n, d, dv, block)]
  const numbers = { intra: [cells.intra, adds.left, theme.primary], inter: [cells.inter, adds.right, theme.compare] }
  parts.names.forEach((line, at) => {
    const name = at ? "inter" : "intra"
    const [count, work_, color] = numbers[name]
    line.firstChild.style.background = colorText(color)
    say(line.lastChild, fill(texts[name], { cells: wholeNumber(count), adds: wholeNumber(work_) }))
  })
  say(parts.reads, start ? fill(texts.reads, { first: meta.first, last: meta.first + start - 1 }) : texts.reads_nothing)
  say(parts.work, fill(texts.blocks_work, { adds: wholeNumber(adds.left + adds.right), whole: wholeNumber(addsOf(n, d, dv, n).left) }))
  say(parts.same, fill(texts.blocks_same, { off: tidy(off.toExponential(0)) }))
}
