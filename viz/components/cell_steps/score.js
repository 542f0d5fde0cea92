// Steps 1 to 4, from the two vectors to the score, and how steps are built.

import { sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { hatch } from "../shared/hatch.js"
import { inRoom } from "../shared/room.js"
import { css, mix } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { addend, CHAIN, decimalsFor, fixed, inner, largest, shownProduct } from "./numbers.js"
import { dimensionAt, paintBars, paintStrip, setLabel, stripRow } from "./strips.js"
/** @import { State } from "./types" */

export function buildStep(state, number, title) {
  const result = element("span", { className: "result" })
  const button = element(
    "button",
    { className: "title", type: "button", "aria-expanded": "false", "data-step": number },
    element("span", { className: "number", textContent: String(number) }),
    element("span", { className: "words" }),
    result,
  )
  const body = element("div", { className: "body" })
  const section = element("section", { className: `step ${title}`, "data-step": number }, button, body)
  button.addEventListener("click", () => state.act.open(number))
  return { section, button, body, result, words: button.querySelector(".words"), title }
}

/** @param {State} state */
export function drawScore(state, cell) {
  const { steps, meta, arrays } = state
  const { texts } = meta
  drawVectors(state, cell)
  const dot = fixed(cell.dot, CHAIN)
  steps[1].result.textContent = fill(texts.sum, { dot })
  const parts = meta.root === null ? `${dot} × ${tidyScale(meta.scale)}` : `${dot} ÷ √${meta.root}`
  const capped = meta.softcap === null ? "" : ` = ${fixed(cell.scaled, CHAIN)} → ${fixed(cell.capped, CHAIN)}`
  const biased = cell.bias === null ? "" : addend(cell.bias, CHAIN)
  const end = meta.softcap === null || biased ? ` = ${fixed(cell.score, CHAIN)}` : ""
  steps[2].words.textContent = cell.bias !== null ? texts.scale_bias : meta.softcap === null ? texts.scale : texts.scale_cap
  steps[2].result.textContent = `${parts}${capped}${biased}${end}`
  steps[3].result.textContent = cell.visible ? texts.visible : texts.masked
  drawMask(state, cell)
  Object.assign(state.root.dataset, { dot: String(arrays.dots[cell.at]), dims: String(arrays.q.length) })
}

export const tidyScale = (scale) => (Number.isInteger(scale) ? String(scale) : scale.toPrecision(4).replace(/0+$/, ""))

/** @param {State} state */
function drawVectors(state, cell) {
  const { steps, meta, arrays, theme } = state
  const { texts } = meta
  steps[0].result.textContent = fill(texts.numbers, { count: arrays.q.length })
  const { q, k, note, bars, readout } = state.vectors
  setLabel(q.label, `q · ${cell.query}`, String(meta.query[1]))
  setLabel(k.label, `k · ${cell.token}`, String(state.key))
  note.textContent = meta.shared.length ? fill(texts.shared, { heads: meta.shared.join(", ") }) : ""
  note.hidden = !meta.shared.length
  const hover = state.dimension
  const size = { q: largest(arrays.q), k: largest(cell.k) }
  paintStrip(q.canvas, arrays.q, { size: size.q, color: theme.query, theme, hover })
  paintStrip(k.canvas, cell.k, { size: size.k, color: theme.key, theme, hover })
  paintBars(bars, cell.product, { color: state.ink, theme, hover, height: inRoom(72) })
  describeStrip(q.canvas, texts, "q", cell.query, arrays.q)
  describeStrip(k.canvas, texts, "k", cell.token, cell.k)
  const decimals = decimalsFor(largest(cell.product))
  const span = { low: fixed(Math.min(...cell.product), decimals), high: fixed(Math.max(...cell.product), decimals) }
  bars.setAttribute("aria-label", fill(texts.product_bars, { count: cell.product.length, dot: fixed(cell.dot, decimals), ...span }))
  if (hover === null) readout.textContent = texts.strip_hint
  else {
    const { left, right, product } = shownProduct(arrays.q[hover], cell.k[hover], 3)
    readout.textContent = fill(texts.dimension, { i: hover, q: fixed(left, 3), k: inner(right, 3), product: fixed(product, 3) })
  }
}

export function describeStrip(canvas, texts, name, token, values) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => fixed(value, 2))
  canvas.setAttribute("aria-label", fill(texts.strip, { name, token, count: values.length, low, high }))
}

// The row of the mask: a square for each drawn key, hatched where the query may not attend to it.
/** @param {State} state */
function drawMask(state, cell) {
  const { meta, arrays, theme, mask } = state
  const { texts } = meta
  const width = mask.canvas.parentElement.clientWidth
  if (width) {
    const context = sizeCanvas(mask.canvas, width, 14)
    const count = arrays.positions.length
    const wide = Math.min(26, width / count)
    for (let i = 0; i < count; i++) {
      const x = i * wide
      const seen = !Number.isNaN(arrays.scores[i])
      context.fillStyle = seen ? css(mix(theme.background, state.ink, 0.22)) : hatch(context, theme)
      context.fillRect(x, 1, wide - 1, 12)
      if (i !== cell.at) continue
      context.strokeStyle = css(theme.key)
      context.lineWidth = 2
      context.strokeRect(x, 1, wide - 1, 12)
    }
  }
  const words = fill(meta.window === null ? texts.seen : texts.seen_window, {
    query: cell.query, visible: meta.n_visible, total: meta.total, window: meta.window,
  })
  mask.canvas.setAttribute("aria-label", words)
  mask.words.textContent = words
}

export function buildScore(state) {
  const [first, second, , fourth] = state.steps
  const q = stripRow({ className: "query" })
  const k = stripRow({ className: "key" })
  const note = element("div", { className: "note" })
  first.body.append(q.row, k.row, note)
  const bars = element("canvas", { role: "img" })
  const readout = element("div", { className: "note readout" })
  const frame = element("div", { className: "strip" }, bars)
  second.body.append(element("div", { className: "strip-row" }, element("div", { className: "name", textContent: "q × k" }), frame), readout)
  state.vectors = { q, k, note, bars, readout }
  for (const canvas of [q.canvas, k.canvas, bars]) watchDimension(state, canvas, "dimension", () => state.arrays.q.length)
  const canvas = element("canvas", { role: "img" })
  state.mask = { canvas, words: element("div", { className: "note" }) }
  fourth.body.append(element("div", { className: "strip" }, canvas), state.mask.words)
}

function watchDimension(state, canvas, name, count) {
  const set = (dimension) => {
    if (state[name] === dimension) return
    state[name] = dimension
    state.act.repaint()
  }
  canvas.addEventListener("pointermove", (event) => set(dimensionAt(event, canvas, count())))
  canvas.addEventListener("pointerdown", (event) => set(dimensionAt(event, canvas, count())))
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && set(null))
}
