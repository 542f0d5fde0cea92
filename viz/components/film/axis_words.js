// What is written above and under the axis, and said of it.

import { element } from "../shared/dom.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { MASKED, place } from "./axis_layout.js"
import { bytesText, keyAt, tokensAt } from "./frames.js"

export function drawWords(axis, { reel, meta }, frame) {
  const { texts, view } = meta
  const head = `L${view.head[0]}H${view.head[1]}`
  const query = isolate(frame.label)
  const parts = [element("b", { textContent: fill(texts.looks, { head, label: query }) })]
  if (view.heads.length) {
    const layers = new Set(view.heads.map(([layer]) => layer))
    const whole = view.heads.length === view.total
    const words = { count: view.heads.length, total: view.total, layer: [...layers][0] }
    parts.push(element("span", { textContent: fill(whole ? texts.heads : texts.heads_layer, words) }))
  }
  axis.heading.replaceChildren(...parts)
  const most = frame.row.reduce((best, value, i) => (value > (frame.row[best] || 0) ? i : best), 0)
  const share = (value) => formatNumber(value, "percent", texts)
  const summary = fill(texts.summary, { head, query, weight: share(frame.row[most] || 0), key: keyAt(reel, frame, most) })
  const hovered = axis.hover && hoverWords(axis, reel, meta, frame)
  axis.caption.textContent = hovered || summary
  if (axis.canvas.getAttribute("aria-label") !== summary) axis.canvas.setAttribute("aria-label", summary)
  axis.canvas.style.cursor = axis.hover && place(axis, axis.hover.x, axis.hover.y)?.part === "strip" ? "pointer" : ""
  if (summary !== axis.announced) axis.announce(summary) // a forced token is another one at the same frame
  axis.announced = summary
  axis.cache.textContent = cacheWords(reel, meta, frame)
}

function cacheWords(reel, { cache, view, texts }, frame) {
  const words = cache.growth ? [grownWords(cache.growth, frame.position + 1 - cache.before, texts)] : []
  if (view.bin > 1) words.push(fill(texts.pooled, { count: view.bin }))
  if (cache.pooled > 1) words.push(fill(texts.pooled_rows, { count: cache.pooled }))
  return words.join(". ")
}

function grownWords({ parts, fixed, read, shape }, written, texts) {
  const bytes = parts.reduce((sum, [each, most]) => sum + each * Math.min(written, most ?? written), fixed)
  const tokens = wholeNumber(read + written)
  const sum = fill(texts.cache, { count: tokens, bytes: bytesText(bytes) })
  if (!shape) return sum
  const [layers, heads, depth, size] = shape
  return `${sum} = ${fill(texts.formula, { layers, heads, depth, size, tokens })}`
}

function hoverWords(axis, reel, { view, texts }, frame) {
  const found = place(axis, axis.hover.x, axis.hover.y)
  if (!found || found.column >= frame.row.length) return ""
  const { part, column, row } = found
  const tokens = tokensAt(reel, view.bin, column, frame.position)
  const query = isolate(frame.label)
  if (part === "k" || part === "v") {
    const values = reel[part][column]
    if (!values) return ""
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => formatNumber(value, "plain", texts))
    return fill(texts.vector, { name: part.toUpperCase(), label: tokens, count: values.length, low, high })
  }
  let [weight, head, key] = [frame.row[column], view.head, keyAt(reel, frame, column)]
  if (part === "strip") {
    head = view.heads[row] ?? head
    key = tokens
    const value = frame.strip[row * frame.row.length + column]
    weight = value === MASKED ? NaN : value / 254
  }
  const template = Number.isNaN(weight) ? texts.masked : texts.look
  const words = fill(template, { query, key, weight: formatNumber(weight, "percent", texts) })
  return `L${head[0]}H${head[1]}: ${words}`
}
