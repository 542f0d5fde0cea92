// Plot every token of the vocabulary: probability against the model's own rank, both logarithmic. Nothing is left out:
// a pixel that represents thousands of tokens shows their range.

import { sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { inRoom, pointIn } from "../shared/room.js"
import { css, mix } from "../shared/theme.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { chanceOrRemoved } from "./bars.js"
import { benches, chance, raised } from "./settings.js"
/** @import { State } from "./types" */

const CURVE_MARGIN = { left: 44, right: 8, top: 6, bottom: 20 }

export function buildCurve(state) {
  state.curveTitle = element("span")
  state.curveSaid = element("span", { className: "said" })
  state.canvas = element("canvas", { role: "img" })
  state.canvas.addEventListener("pointermove", (event) => pointAt(state, event))
  state.canvas.addEventListener("pointerleave", () => pointAt(state, null))
  state.canvas.addEventListener("click", (event) => {
    const rank = rankAt(state, event)
    if (rank !== null) state.act.mark(state.order[rank], { toggle: true })
  })
  return element("div", { className: "curve" }, element("div", { className: "curve-head" }, state.curveTitle, state.curveSaid), state.canvas)
}

// Compute what does not change while a slider is dragged: the position of each token, and the model's own curve.
function curveLayout(state) {
  const width = Math.max(180, state.curveWidth)
  const height = state.narrow ? 130 : inRoom(150)
  const { order } = state
  if (state.curve?.width === width && state.curve.height === height && state.curve.order === order) return state.curve
  const span = width - CURVE_MARGIN.left - CURVE_MARGIN.right
  const place = (rank) => (order.length === 1 ? 0 : (Math.log(rank + 1) / Math.log(order.length)) * (span - 1))
  const pixelOf = new Uint16Array(order.length) // by token
  const columns = [] // pixel columns with a token: on the left, the first ranks are farther apart than a pixel
  order.forEach((token, rank) => {
    const x = (pixelOf[token] = Math.round(place(rank)))
    if (columns.at(-1) !== x) columns.push(x)
  })
  let least = 1
  for (const p of state.own) if (p > 0 && p < least) least = p
  const bottom = Math.min(-1, Math.max(-12, Math.floor(Math.log10(least))))
  const at = { width, height, order, left: CURVE_MARGIN.left, span, place, pixelOf, columns, bottom }
  at.own = rangeOf(at, state.ownRun)
  return (state.curve = at)
}

/** @param {State} state */
export function paintCurve(state) {
  const at = curveLayout(state)
  const { theme, meta } = state
  const context = sizeCanvas(state.canvas, at.width, at.height)
  const [top, floor] = [CURVE_MARGIN.top, at.height - CURVE_MARGIN.bottom]
  const y = (p) => floor - (floor - top) * clamp(1 - Math.log10(Math.max(p, 1e-300)) / at.bottom, 0, 1)
  drawGrid(context, at, theme, y, meta.texts)
  fillRange(context, at, at.own, y, floor, css(mix(theme.background, theme.text, 0.09)))
  traceRange(context, at, at.own, y, css(theme.quiet), 1)
  for (const bench of benches(state)) {
    const color = bench === "a" ? theme.primary : theme.compare
    const range = rangeOf(at, state.results[bench].run)
    if (bench === "a") fillRange(context, at, range, y, floor, css(color, 0.3))
    traceRange(context, at, range, y, css(color), 1.6)
    drawDraws(context, state, at, bench, y, css(color))
  }
  drawMarked(context, state, at, y)
  state.curveTitle.textContent = fill(meta.texts.curve, { count: wholeNumber(state.order.length) })
  state.canvas.setAttribute("aria-label", `${state.curveTitle.textContent}. ${state.root.dataset.summary}`)
}

// The smallest and the largest probability of the kept tokens in each pixel column; 0 if there are none.
function rangeOf({ pixelOf, span }, { ids, weights, low, high, total }) {
  const range = { low: new Float64Array(span), high: new Float64Array(span) }
  for (let at = low; at < high; at++) {
    const p = weights[at] / total
    const x = pixelOf[ids[at]]
    if (p > range.high[x]) range.high[x] = p
    if (p < range.low[x] || range.low[x] === 0) range.low[x] = p
  }
  return range
}

// Fill from each column to the next. If the next has no token, fill up to it, so that a single kept token is visible.
function fillRange(context, { left, columns }, { high }, y, floor, color) {
  context.fillStyle = color
  context.beginPath()
  columns.forEach((x, i) => {
    if (!high[x]) return
    const next = columns[i + 1] ?? x + 1
    context.moveTo(left + x, floor)
    context.lineTo(left + x, y(high[x]))
    context.lineTo(left + next, y(high[next] || high[x]))
    context.lineTo(left + next, floor)
  })
  context.fill()
}

function traceRange(context, { left, columns }, { low, high }, y, color, width) {
  context.strokeStyle = color
  context.lineWidth = width
  context.lineJoin = "round"
  context.beginPath()
  let open = false
  columns.forEach((x, i) => {
    if (!high[x]) return (open = false)
    if (open) context.lineTo(left + x, y(high[x]))
    else context.moveTo(left + x, y(high[x]))
    if (y(low[x]) - y(high[x]) > 1) context.lineTo(left + x, y(low[x]))
    const next = columns[i + 1]
    if (!open && next !== undefined && !high[next]) context.lineTo(left + next, y(high[x]))
    open = true
  })
  context.stroke()
}

function drawDraws(context, state, at, bench, y, color) {
  const { counts, drawn } = state.results[bench]
  context.fillStyle = color
  for (const token of drawn) {
    context.beginPath()
    context.arc(at.left + at.place(state.rank[token]), y(counts[token] / state.draws), 2, 0, 7)
    context.fill()
  }
}

function drawMarked(context, state, at, y) {
  for (const [token, color] of [[state.meta.actual, state.theme.quiet], [state.hoverToken, state.theme.text], [state.find, state.theme.key]]) {
    if (token === null || token === undefined) continue
    const x = at.left + at.place(state.rank[token])
    context.strokeStyle = context.fillStyle = css(color)
    context.lineWidth = 1
    context.setLineDash([3, 3])
    context.beginPath()
    context.moveTo(x, CURVE_MARGIN.top)
    context.lineTo(x, at.height - CURVE_MARGIN.bottom)
    context.stroke()
    context.setLineDash([])
    context.beginPath()
    context.arc(x, y(state.own[token]), 3, 0, 7)
    context.fill()
  }
}

function drawGrid(context, at, theme, y, texts) {
  context.font = `10px ${theme.font}`
  context.strokeStyle = css(theme.rule)
  context.fillStyle = css(theme.quiet)
  context.lineWidth = 1
  context.textAlign = "right"
  context.textBaseline = "middle"
  const step = at.bottom < -8 ? 4 : at.bottom < -4 ? 2 : 1
  for (let decade = 0; decade >= at.bottom; decade -= step) {
    const line = Math.round(y(10 ** decade)) + 0.5
    context.beginPath()
    context.moveTo(at.left, line)
    context.lineTo(at.left + at.span, line)
    context.stroke()
    const number = decade >= -4 ? String(Number((100 * 10 ** decade).toPrecision(1))) : `10${raised(decade + 2)}`
    context.fillText(fill(texts.percent, { number }), at.left - 5, line)
  }
  context.textBaseline = "alphabetic"
  const bottom = at.height - 5
  let free = at.left
  for (let rank = 1; rank <= at.order.length; rank *= 10) {
    const words = rank === 1 ? `${texts.curve_axis} 1` : wholeNumber(rank)
    const x = at.left + at.place(rank - 1)
    const half = context.measureText(words).width / 2
    const start = Math.max(free, Math.min(x - half, at.left + at.span - 2 * half))
    context.textAlign = "left"
    context.fillText(words, start, bottom)
    free = start + 2 * half + 8
  }
}

// ---- the pointer ----------------------------------------------------------------------------------------------------

function rankAt(state, event) {
  const at = state.curve
  if (!at) return null
  const x = pointIn(event, state.canvas).x - at.left
  if (x < -4 || x > at.span + 4) return null
  return clamp(Math.round(state.order.length ** clamp(x / (at.span - 1), 0, 1)) - 1, 0, state.order.length - 1)
}

/** @param {State} state */
function pointAt(state, event) {
  const rank = event && rankAt(state, event)
  const token = rank === null ? null : state.order[rank]
  if (token === state.hoverToken) return
  state.hoverToken = token
  paintCurve(state)
  const { texts, labels } = state.meta
  const final = token === null ? "" : benches(state).map((bench) => chanceOrRemoved(state, bench, token)).join(" / ")
  const values = token === null ? {} : { rank: wholeNumber(rank + 1), label: isolate(labels[token]), percent: chance(state.own[token], texts), final }
  state.curveSaid.textContent = token === null ? "" : fill(texts.curve_point, values)
}
