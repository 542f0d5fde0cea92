// One row: the keys processed so far with their weights, and its maximum and sum after each tile.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { inRoom } from "../shared/room.js"
import { css } from "../shared/theme.js"
import { fill, formatPlain, isolate } from "../shared/words.js"
import { spanText } from "./memory.js"
import { metBy, softmaxRow } from "./tiles.js"

const SHOWN = 4 // tiles in the table, the newest last
const HEIGHT = 92 // pixels of the bars, in a window of the usual height
const NAMED = 15 // pixels below the bars for the keys' names, where there is room for them

export function createRow() {
  const [title, chart, table, note] = ["title", "chart", "sums", "note"].map((className) => element("div", { className }))
  const canvas = element("canvas", { role: "img" })
  chart.append(canvas)
  return { box: element("section", { className: "row" }, title, chart, table, note), title, canvas, table, note, key: "", met: [], softmax: null }
}

/** @param {any} panel */
export function drawRow(panel, { meta, reel, row, done, theme }) {
  const { texts, labels } = meta
  const { work, plan } = reel
  if (panel.reel !== reel || panel.row !== row) {
    Object.assign(panel, { reel, row, met: metBy(work, plan, reel.seen, row), softmax: softmaxRow(work, row) })
  }
  const met = panel.met.slice(0, done[Math.floor(row / plan.rows)])
  const token = `${isolate(labels[row])} ${meta.first + row}`
  panel.title.replaceChildren(element("b", { textContent: fill(texts.row, { token }) }))
  panel.canvas.setAttribute("aria-label", fill(texts.row_chart, { token }))
  drawShares(panel, met, { work, row, labels, theme })
  panel.table.replaceChildren(...(met.length ? [tableOf(met, panel.softmax.output, meta)] : []))
  const ended = met.length === panel.met.length
  panel.note.textContent = !panel.met.length ? texts.no_keys : !met.length ? texts.not_met : ended ? texts.row_done : ""
  return met.length ? offBy(met.at(-1), panel.softmax.output) : null
}

const offBy = ({ output }, whole) => output.reduce((most, value, x) => Math.max(most, Math.abs(value - whole[x])), 0)

function drawShares({ canvas, softmax }, met, { work, row, labels, theme }) {
  const width = canvas.parentElement.clientWidth
  const { n, scores } = work
  const height = inRoom(HEIGHT)
  const context = sizeCanvas(canvas, width, height)
  const step = width / n
  const named = step >= 22 ? NAMED : 0
  const [base, most] = [height - named - 1, Math.max(...softmax.shares, 1e-9)]
  const high = (share) => (base - 3) * Math.min(1, share / Math.max(most, 0.05))
  const last = met.at(-1)
  context.font = `11px ${theme.font}`
  context.textAlign = "center"
  context.fillStyle = css(theme.primary)
  for (const tile of met) {
    for (let c = tile.first; c < tile.stop; c++) {
      const share = Math.exp(scores[row * n + c] - last.max) / (last.sum || 1)
      context.fillRect(c * step + 0.5, base - high(share), Math.max(1, step - 1), high(share))
    }
  }
  context.strokeStyle = css(theme.text)
  context.lineWidth = 1
  for (let c = 0; c < n; c++) {
    const top = high(softmax.shares[c])
    if (top > 0.5) context.strokeRect(c * step + 0.5, base - top, Math.max(1, step - 1), top)
  }
  context.fillStyle = css(theme.rule)
  context.fillRect(0, base, width, 1)
  if (!named) return
  context.fillStyle = css(theme.quiet)
  for (let c = 0; c < n; c++) context.fillText(fitText(context, labels[c], step - 3), (c + 0.5) * step, height - 4)
}

// What each tile did to the maximum and the sum.
function tableOf(met, whole, { texts, first }) {
  const cell = (tag, words, title = "") => element(tag, title ? { title } : {}, words)
  const names = [texts.tile, texts.tile_max, texts.kept_max, texts.shrink, texts.sum]
  const head = element("tr", {}, ...names.map((name) => cell("th", name)), cell("th", texts.off, texts.off_hint))
  const shown = met.slice(-SHOWN)
  const rows = shown.map((one) => {
    const corrected = one.before.max !== -Infinity && one.max > one.before.max
    const numbers = [spanText(first + one.first, first + one.stop), score(one.tileMax), score(one.max), one.before.max === -Infinity ? "–" : formatPlain(one.shrink), formatPlain(one.sum), tiny(offBy(one, whole))]
    const line = element("tr", { className: corrected ? "corrected" : "" }, ...numbers.map((words) => cell("td", words)))
    return line
  })
  const before = met.length - shown.length
  const more = before ? [element("tr", { className: "more" }, element("td", { colspan: 6 }, fill(texts.more_tiles, { count: before })))] : []
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...more, ...rows))
}

const score = (value) => (value === -Infinity ? "−∞" : formatPlain(value))
const tiny = (value) => (value < 1e-12 ? "0" : formatPlain(value)) // rounding of float64
