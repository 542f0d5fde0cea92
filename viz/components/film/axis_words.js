// The text above and below the axis, and its description.

import { element } from "../shared/dom.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { MASKED, place } from "./axis_layout.js"
import { bytesText, keyAt, labelAt, lastFrame, tokensAt } from "./frames.js"

export function drawWords(axis, state, frame) {
  const { reel, meta } = state
  const { texts, view } = meta
  const head = `L${view.head[0]}H${view.head[1]}`
  const most = frame.row.reduce((best, value, i) => (value > (frame.row[best] || 0) ? i : best), 0)
  const share = (value) => formatNumber(value, "percent", texts)
  const query = tokenNode(reel, texts, frame.position, frame.position, "query")
  const key = tokenNode(reel, texts, frame.keys ? frame.keys[most] : most, frame.position, "key")
  const finding = element("b", {}, ...phrase(texts.look, { query, weight: share(frame.row[most] || 0), key }))
  axis.heading.replaceChildren(finding, element("span", { textContent: fill(texts.line_width, { head }) }))
  const next = nextWords(state)
  const summary = `${head}: ${finding.textContent}${next && `; ${next}`}`
  const hovered = axis.hover && hoverWords(axis, reel, meta, frame)
  axis.caption.textContent = hovered || ""
  if (axis.canvas.getAttribute("aria-label") !== summary) axis.canvas.setAttribute("aria-label", summary)
  axis.canvas.style.cursor = axis.hover && place(axis, axis.hover.x, axis.hover.y)?.part === "strip" ? "pointer" : ""
  if (summary !== axis.announced) axis.announce(summary) // a forced token differs at the same frame
  axis.announced = summary
  axis.cache.textContent = cacheWords(reel, meta, frame)
}

// A template whose values may be elements.
/** @type {(template: string, values: Record<string, Node | string>) => (Node | string)[]} */
export const phrase = (template, values) => template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part))

// A token in quotes, without the dot of its space, in the colour of its part; with its position if the text up to `last`
// has it twice.
export function tokenNode(reel, texts, position, last, part) {
  const name = bare(labelAt(reel, position))
  let count = 0
  for (let i = 0; i <= last; i++) count += bare(labelAt(reel, i)) === name ? 1 : 0
  const written = name.startsWith("⟨") ? isolate(name) : fill(texts.token, { token: isolate(name) })
  return element("span", { className: part, textContent: count > 1 ? `${written}\u00a0(${position})` : written })
}

const bare = (label) => label.replace(/^·+|·+$/g, "") || label.replaceAll("·", "␣")

// What comes after the current frame, as far as it was seen.
function nextWords({ reel, meta, at, shown }) {
  const next = at < shown ? reel.frames[at + 1] : null
  if (!next) return at === lastFrame(reel) && meta.stop ? meta.texts[meta.stop] : ""
  const node = tokenNode(reel, meta.texts, next.position, next.position, "")
  return fill(meta.texts.comes, { token: node.textContent })
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
  const [layer, head] = axis.rows[row]
  const level = frame.strip?.[row * frame.row.length + column]
  const weight = level === undefined ? frame.row[column] : level === MASKED ? NaN : level / 254
  const key = level === undefined ? keyAt(reel, frame, column) : tokens
  const template = Number.isNaN(weight) ? texts.masked : texts.look
  const words = fill(template, { query, key, weight: formatNumber(weight, "percent", texts) })
  return head === null ? fill(texts.of_layer, { layer, words }) : `L${layer}H${head}: ${words}`
}
