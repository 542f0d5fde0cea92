// Steps 5 to 7: the softmax row, the weighted sum of the values, and the push on the logits.

import { measuring } from "../shared/canvas.js"
import { closest, element } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { stance } from "../shared/upright.js"
import { fill, isolate } from "../shared/words.js"
import { addend, CHAIN, decimalsFor, fixed, largest, norm, percent, rounded, rowOf, signed } from "./numbers.js"
import { describeStrip } from "./score.js"
import { dimensionAt, paintStrip, stripRow } from "./strips.js"
/** @import { Arrays, State } from "./types" */

const NAMED_VALUES = 4 // keys whose values are drawn one by one; the others share one strip

// ---- 5: the row -----------------------------------------------------------------------------------------------------

export function buildRow(state) {
  const bars = element("div", { className: "bars", tabIndex: 0, role: "listbox", "aria-orientation": "horizontal" })
  const top = element("div", { className: "top" })
  const note = element("div", { className: "note" })
  state.row = { bars, top, note, drawn: null }
  state.steps[4].body.append(element("div", { className: "plot" }, top, element("div", { className: "scroller" }, bars)), note)
  bars.addEventListener("click", (event) => {
    const bar = closest(event, ".bar[data-key]")
    if (bar) state.act.choose(Number(bar.dataset.key))
  })
}

/** @param {State} state */
export function drawRow(state, cell) {
  const { meta, arrays, row } = state
  const { texts } = meta
  const weight = percent(cell.weight, texts)
  state.steps[4].result.textContent = `exp(${cell.visible ? fixed(cell.exponent, CHAIN) : "−∞"}) = ${weight}`
  const most = Math.max(...arrays.weights, meta.sink ?? 0, meta.rest)
  const scale = [0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8].find((top) => most <= top) ?? 1
  row.top.textContent = fill(texts.percent ?? "{number} %", { number: (scale * 100).toFixed(0) })
  row.bars.replaceChildren(...barNodes(state, scale))
  row.bars.setAttribute("aria-label", texts.keys ?? "")
  row.bars.setAttribute("aria-activedescendant", `key-${state.key}`)
  const cut = meta.total > arrays.positions.length && arrays.positions.length > 1
  row.note.textContent = cut ? fill(texts.cut, { total: meta.total, count: arrays.positions.length }) : ""
  row.note.hidden = !cut
  standNames(row.bars, state.theme)
  showBar(row.bars)
}

// Names are upright where they fit below their bar.
function standNames(bars, theme) {
  const pen = measuring(`600 11px ${theme.font}`)
  const nodes = [...bars.children]
  const rooms = nodes.map((node) => node.clientWidth - 2)
  nodes.forEach((node, i) => {
    const name = node.querySelector(".name")
    name.classList.add(stance(name.textContent, pen.measureText(name.textContent).width, rooms[i]))
  })
}

/** @param {State} state */
function barNodes(state, scale) {
  const { meta, arrays } = state
  const { texts } = meta
  const nodes = meta.labels.map((label, i) => {
    const [key, weight, masked] = [arrays.positions[i], arrays.weights[i], Number.isNaN(arrays.scores[i])]
    const words = fill(masked ? texts.bar_masked : texts.bar, { key: isolate(label), position: key, weight: percent(weight, texts) })
    const chosen = key === state.key
    const node = barNode(label, words, masked ? 0 : weight / scale, chosen ? percent(weight, texts) : "")
    node.setAttribute("role", "option")
    node.setAttribute("aria-selected", String(chosen))
    node.id = `key-${key}`
    node.dataset.key = String(key)
    node.classList.toggle("chosen", chosen)
    node.classList.toggle("masked", masked)
    return node
  })
  if (meta.sink !== null) {
    const node = barNode(texts.sink ?? "", fill(texts.sink_long, { weight: percent(meta.sink, texts) }), meta.sink / scale, "")
    node.classList.add("sink")
    nodes.unshift(node)
  }
  const count = meta.n_visible - arrays.scores.filter((score) => !Number.isNaN(score)).length
  if (count > 0) {
    const words = fill(count === 1 ? texts.other_long : texts.others_long, { count, weight: percent(meta.rest, texts) })
    const node = barNode(nameOfOthers(count, texts), words, meta.rest / scale, "")
    node.classList.add("rest")
    nodes.push(node)
  }
  return nodes
}

function barNode(label, words, height, amount) {
  const bar = element("div", { className: "fill" })
  bar.style.height = `${(clamp(height, 0, 1) * 100).toFixed(2)}%`
  const column = element("div", { className: "column" }, bar)
  if (amount) column.append(element("span", { className: "amount", textContent: amount }))
  const node = element("div", { className: "bar", title: words }, column)
  node.append(element("div", { className: "name" }, element("bdi", { textContent: label })))
  return node
}

// Scroll inside the row only.
function showBar(bars) {
  const chosen = bars.querySelector(".chosen")
  const frame = bars.parentElement
  if (!chosen || frame.scrollWidth <= frame.clientWidth) return
  const left = chosen.offsetLeft
  if (left < frame.scrollLeft) frame.scrollLeft = left - 20
  else if (left + chosen.offsetWidth > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = left + 40 - frame.clientWidth
}

// ---- 6: the values --------------------------------------------------------------------------------------------------

/** @param {number | undefined} count */
export function nameOfOthers(count, texts) {
  return count === 1 ? texts.other : fill(texts.others, { count: count ?? 0 })
}

// The strips of the sum: the keys that contribute most, the chosen one, all others together, and the total.
/** @param {State} state */
export function mixedParts(state, cell) {
  const { meta, arrays } = state
  const lengths = meta.labels.map((_, i) => arrays.weights[i] * norm(rowOf(arrays.v, i)))
  const order = lengths.map((_, i) => i).filter((i) => arrays.weights[i] > 0).sort((a, b) => lengths[b] - lengths[a])
  const shown = order.slice(0, NAMED_VALUES)
  if (!shown.includes(cell.at)) shown.splice(NAMED_VALUES - 1, 1, cell.at)
  /** @type {{ i: number | null, values: Float32Array, weight: number, count?: number }[]} */
  const parts = shown.map((i) => ({ i, values: rowOf(arrays.v, i).map((value) => value * arrays.weights[i]), weight: arrays.weights[i] }))
  const others = meta.n_visible - shown.filter((i) => arrays.weights[i] > 0).length
  if (others > 0) {
    const values = arrays.mixed.map((sum, d) => parts.reduce((left, part) => left - part.values[d], sum))
    const weight = Math.max(0, 1 - (meta.sink ?? 0) - parts.reduce((sum, part) => sum + part.weight, 0))
    parts.push({ i: null, values, weight, count: others })
  }
  return parts
}

/** @param {State} state */
export function drawValues(state, cell) {
  const { meta, arrays, theme, steps } = state
  const { texts } = meta
  const parts = mixedParts(state, cell)
  const hover = state.valueDimension
  const ends = [arrays.mixed, ...(arrays.passed_on ? [arrays.passed_on] : [])]
  const size = Math.max(...[...ends, ...parts.map((part) => part.values)].map(largest))
  const decimals = decimalsFor(Math.max(...[...ends, ...parts.map((part) => part.values)].map(norm)))
  const length = (values) => fixed(norm(values), decimals)
  const own = parts.findIndex((part) => part.i === cell.at)
  steps[5].result.textContent = fill(texts.length, { key: cell.token, length: `‖w·v‖ ${length(parts[own].values)}` })
  const rows = parts.map((part) => {
    const name = part.i === null ? nameOfOthers(part.count, texts) : isolate(meta.labels[part.i])
    const line = stripRow({ className: "value", name: `${percent(part.weight, texts)} × v · ${name}`, amount: length(part.values) })
    line.row.classList.toggle("chosen", part.i === cell.at)
    if (part.i !== null) line.row.dataset.key = String(arrays.positions[part.i])
    return { ...line, values: part.values }
  })
  rows.push({ ...stripRow({ className: "value output", name: `= ${texts.output}`, amount: length(arrays.mixed) }), values: arrays.mixed })
  if (arrays.passed_on) {
    const line = stripRow({ className: "value passed-on", name: `→ ${texts.passed_on}`, amount: length(arrays.passed_on) })
    rows.push({ ...line, values: arrays.passed_on })
  }
  state.values.replaceChildren(...rows.map((line) => line.row))
  for (const line of rows) {
    paintStrip(line.canvas, line.values, { size, color: theme.value, theme, hover, height: 16 })
    describeStrip(line.canvas, texts, "w·v", line.label.title, line.values)
  }
  state.valueReadout.textContent = hover === null ? texts.value_hint : fill(texts.value_dimension, valueTerms(parts, arrays, hover))
}

// Terms and sum for one dimension, and the sum after edits; the last term takes the rounding error, so that the line
// adds up.
/** @type {(parts: { values: Float32Array }[], arrays: Arrays, i: number) => Record<string, unknown>} */
export function valueTerms(parts, { mixed, passed_on }, i) {
  const decimals = decimalsFor(Math.max(...parts.map((part) => Math.abs(part.values[i]))))
  const numbers = parts.map((part) => rounded(part.values[i], decimals))
  const output = rounded(mixed[i], decimals)
  const last = numbers.length - 1
  numbers[last] = rounded(output - numbers.slice(0, last).reduce((sum, number) => sum + number, 0), decimals)
  const terms = numbers.map((number, part) => (part ? addend(number, decimals) : fixed(number, decimals))).join("")
  return { i, terms, output: `${fixed(output, decimals)}${passed_on ? ` → ${fixed(passed_on[i], decimals)}` : ""}` }
}

export function buildValues(state) {
  state.values = element("div", { className: "values" })
  state.valueReadout = element("div", { className: "note readout" })
  state.steps[5].body.append(state.values, state.valueReadout)
  state.values.addEventListener("click", (event) => {
    const row = closest(event, ".strip-row[data-key]")
    if (row) state.act.choose(Number(row.dataset.key))
  })
  const set = (event) => {
    const canvas = closest(event, "canvas")
    state.act.hoverValue(canvas ? dimensionAt(event, canvas, state.arrays.mixed.length) : null)
  }
  state.values.addEventListener("pointermove", set)
  state.values.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && state.act.hoverValue(null))
}

// ---- 7: the push ----------------------------------------------------------------------------------------------------

/** @param {State} state */
export function drawPush(state) {
  const { meta, steps } = state
  const { texts, push } = meta
  const { body, result } = steps[6]
  if (typeof push === "string") {
    result.textContent = ""
    body.replaceChildren(element("div", { className: "note refused", textContent: push }))
    return
  }
  const most = Math.max(...[...push.promoted, ...push.suppressed].map(([, value]) => Math.abs(value)), 1e-9)
  const decimals = decimalsFor(Math.max(most, 0.1)) - 1
  const [token, added, logit] = push.predicted
  const words = { token: isolate(token), push: signed(added, decimals), logit: fixed(logit, decimals) }
  result.textContent = push.promoted.length ? `${isolate(push.promoted[0][0])} ${signed(push.promoted[0][1], decimals)}` : ""
  const lists = ["promoted", "suppressed"].map((side) => pushList(texts[side], push[side], { side, most, decimals }))
  body.replaceChildren(
    push.promoted.length + push.suppressed.length
      ? element("div", { className: "lists" }, ...lists)
      : element("div", { className: "note nothing", textContent: texts.no_push ?? "" }),
    element("div", { className: "note", textContent: fill(texts.predicted, words) }),
  )
}

// ---- 8: the next token ----------------------------------------------------------------------------------------------

// What all heads and layers together predict at the query's position.
/** @param {State} state */
export function drawNext(state) {
  const { meta, steps } = state
  const { section, body, result } = steps[7]
  section.hidden = !meta.next.length
  if (section.hidden) return
  const items = meta.next.map(([label, share]) => ({ label, share, amount: percent(share, meta.texts) }))
  result.textContent = `${isolate(items[0].label)} ${items[0].amount}`
  body.replaceChildren(barTable("", items, { side: "promoted next", most: items[0].share }))
}

function pushList(heading, items, { side, most, decimals }) {
  const named = items.map(([label, value]) => ({ label, share: Math.abs(value), amount: signed(value, decimals) }))
  return barTable(heading, named, { side, most })
}

// Tokens with a bar and a number each.
/** @type {(heading: string | undefined, items: { label: string, share: number, amount: string }[], of: { side: string, most: number }) => HTMLElement} */
function barTable(heading, items, { side, most }) {
  const rows = items.map(({ label, share, amount }) => {
    const bar = element("i")
    bar.style.width = `${((100 * share) / most).toFixed(1)}%`
    return element(
      "tr",
      { title: label },
      element("th", { scope: "row" }, element("bdi", { textContent: label })),
      element("td", {}, element("div", { className: "track" }, bar)),
      element("td", { className: "amount", textContent: amount }),
    )
  })
  const caption = heading ? [element("caption", { textContent: heading })] : []
  return element("table", { className: side }, ...caption, element("tbody", {}, ...rows))
}
