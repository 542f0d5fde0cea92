// The open step's formula with its numbers; if none is open, a summary of all steps.

import { element } from "../shared/dom.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
import {
  addend,
  CHAIN,
  decimalsFor,
  fixed,
  inner,
  norm,
  percent,
  rounded,
  shownProduct,
  signed,
  subscript,
} from "./numbers.js"
import { mixedParts, nameOfOthers, valueTerms } from "./row.js"
import { tidyScale } from "./score.js"
/** @import { Texts } from "../shared/types" */
/** @import { Arrays, State } from "./types" */

const SHOWN_TERMS = 3 // products written out, the largest; the rest is one number

function formulaLines(state, cell) {
  const writers = [chainLines, vectorLines, productLines, scaleLines, maskLines, softmaxLines, valueLines, pushLines, nextLines]
  return writers[state.open](state, cell)
}

const math = (text) => ({ kind: "math", text })
const words = (text) => ({ kind: "words", text })

/** @param {State} state */
function chainLines({ meta }, cell) {
  const { texts } = meta
  const scaled = meta.root === null ? `q·k × ${tidyScale(meta.scale)}` : `q·k ÷ √${meta.root}`
  const capped = meta.softcap === null ? scaled : `cap(${scaled})`
  return [
    math(`score = ${capped}${cell.bias === null ? "" : " + bias"}${cell.visible ? ` = ${fixed(cell.score, CHAIN)}` : " + (−∞) = −∞"}`),
    math(`weight = exp(score − lse) = ${percent(cell.weight, texts)}`),
    math("output = Σⱼ weightⱼ · vⱼ"),
    words(texts.open),
  ]
}

/** @param {State} state */
function vectorLines({ meta, arrays, key }, cell) {
  const { texts } = meta
  const list = (values) => {
    const all = [...values].map((value) => fixed(value, 2))
    return `[${(all.length > 6 ? [...all.slice(0, 4), "…", all.at(-1)] : all).join(", ")}]`
  }
  const lines = [
    words(fill(texts.f_vectors, { head: meta.head, query: cell.query, key: cell.token })),
    math(`q${subscript(meta.query[1])} = ${list(arrays.q)}`),
    math(`k${subscript(key)} = ${list(cell.k)}`),
  ]
  if (meta.rotated) lines.push(words(fill(texts.f_rotated, { query_position: meta.query[1], key_position: key })))
  return lines
}

/** @param {State} state */
function productLines({ meta, arrays }, cell) {
  const order = [...cell.product.keys()].sort((a, b) => Math.abs(cell.product[b]) - Math.abs(cell.product[a]))
  const decimals = Math.min(3, decimalsFor(Math.abs(cell.product[order[0]])))
  const top = order.slice(0, SHOWN_TERMS).map((i) => shownProduct(arrays.q[i], cell.k[i], decimals))
  const dot = rounded(cell.dot, decimals)
  const more = cell.product.length - top.length
  const factors = top.map(({ left, right }) => `${inner(left, 3)}·${inner(right, 3)}`).join(" + ")
  const terms = top.map(({ product }, i) => (i ? addend(product, decimals) : fixed(product, decimals))).join("")
  const rest = top.reduce((left, { product }) => left - product, dot)
  const left = more > 0 ? `${addend(rest, decimals)} (${fill(meta.texts.f_other_terms, { count: more })})` : ""
  return [
    math("q·k = Σᵢ qᵢ · kᵢ"),
    math(`= ${factors}${more > 0 ? " + …" : ""}`),
    math(`= ${terms}${left}`),
    math(`= ${fixed(dot, decimals)}`),
  ]
}

/** @param {State} state */
function scaleLines({ meta }, cell) {
  const { texts, root, scale, softcap } = meta
  const [dot, scaled, factor] = [fixed(cell.dot, CHAIN), fixed(cell.scaled, CHAIN), tidyScale(scale)]
  const own = scale === 1 ? texts.f_plain : fill(texts.f_scale, { scale: factor })
  const lines = root === null
    ? [math(`score = q·k × scale = ${dot} × ${factor} = ${scaled}`), words(own)]
    : [math(`score = q·k ÷ √d = ${dot} ÷ √${root} = ${scaled}`), words(fill(texts.f_root, { d: root }))]
  if (cell.bias !== null) {
    lines.push(math(`score + bias = ${fixed(cell.capped, CHAIN)}${addend(cell.bias, CHAIN)} = ${fixed(cell.score, CHAIN)}`), words(texts.f_bias))
  }
  if (softcap === null) return lines
  const formula = `cap · tanh(score ÷ cap) = ${softcap} · tanh(${scaled} ÷ ${softcap}) = ${fixed(cell.capped, CHAIN)}`
  return [...lines, math(formula), words(fill(texts.f_cap, { cap: softcap }))]
}

/** @param {State} state */
function maskLines({ meta }, cell) {
  const score = fixed(cell.score, CHAIN)
  const values = { query: cell.query, key: cell.token, score }
  return [
    math(cell.visible ? `score = ${score} + 0 = ${score}` : `score = ${score} + (−∞) = −∞`),
    words(fill(cell.visible ? meta.texts.f_visible : meta.texts.f_masked, values)),
  ]
}

/** @param {State} state */
function softmaxLines({ meta }, cell) {
  const { texts } = meta
  const lines = [math("weight = exp(score) ÷ Σⱼ exp(scoreⱼ) = exp(score − lse)")]
  const score = fixed(cell.score, CHAIN)
  if (cell.visible) lines.push(math(`= exp(${score} − ${inner(cell.lse, CHAIN)}) = exp(${fixed(cell.exponent, CHAIN)})`))
  else lines.push(math("= exp(−∞)"))
  lines.push(math(`= ${cell.weight.toFixed(cell.weight < 0.001 ? 6 : 4)} = ${percent(cell.weight, texts)}`), words(texts.f_lse))
  if (meta.sink !== null) lines.push(words(fill(texts.f_sink, { weight: percent(meta.sink, texts) })))
  return lines
}

/** @param {State} state */
function valueLines(state, cell) {
  const { meta, arrays } = state
  const { texts } = meta
  const parts = mixedParts(state, cell)
  const sum = parts.map((part) => `${percent(part.weight, texts)}·v(${part.i === null ? nameOfOthers(part.count, texts) : isolate(meta.labels[part.i])})`)
  const found = valueTerms(parts, arrays, state.valueDimension ?? 0)
  const difference = meta.difference === 0 ? "0" : formatNumber(meta.difference, "plain", texts)
  return [
    math("output = Σⱼ weightⱼ · vⱼ"),
    math(`= ${sum.join(" + ")}`),
    math(fill(texts.value_dimension, found)),
    words(fill(texts.f_mixed, { difference })),
  ]
}

/** @param {State} state */
function pushLines({ meta, arrays }) {
  const { texts, push } = meta
  if (typeof push === "string") return [words(push)]
  const [token, whole] = push.predicted
  const digits = (value) => signed(value, decimalsFor(Math.max(Math.abs(value), 0.1)) - 1)
  const means = { mean: digits(push.mean), token: isolate(token), above: digits(whole - push.mean) }
  return [...pushedLines(arrays, texts), words(texts.f_frozen), words(fill(texts.f_mean, means))]
}

/** @param {State} state */
function nextLines({ meta }) {
  const { texts, push, next } = meta
  const lines = [math("p = softmax(W_U · norm(h))"), words(texts.f_next)]
  if (typeof push === "string" || !next.length) return lines
  const [token, added, logit] = push.predicted
  const decimals = decimalsFor(Math.max(Math.abs(added), 0.1)) - 1
  const shares = { token: isolate(token), push: signed(added, decimals), logit: fixed(logit, decimals), share: percent(next[0][1], texts) }
  return [...lines, words(fill(texts.f_next_push, shares))]
}

// What pushes the logits: the output, or the output after edits.
/** @type {(arrays: Arrays, texts: Texts) => { kind: string, text: string }[]} */
function pushedLines({ mixed, passed_on }, texts) {
  if (!passed_on) return [math("push = W_U · norm(W_O · output)"), words(texts.f_push)]
  const decimals = decimalsFor(Math.max(norm(mixed), norm(passed_on)))
  const lengths = { output: fixed(norm(mixed), decimals), passed_on: fixed(norm(passed_on), decimals) }
  return [
    math("push = W_U · norm(W_O · passed on)"),
    words(`${fill(texts.f_passed_on, lengths)} ${texts.f_push_edited ?? ""}`),
  ]
}

/** @param {State} state */
export function drawPanel(state, cell) {
  const { panel, steps, meta } = state
  for (const [i, step] of steps.entries()) {
    step.button.setAttribute("aria-expanded", String(state.open === i + 1))
    step.section.classList.toggle("open", state.open === i + 1)
  }
  const heading = state.open ? `${state.open} ${steps[state.open - 1].words.textContent}` : `${meta.head}: ${cell.query} → ${cell.token}`
  const lines = formulaLines(state, cell).map(({ kind, text }) => element("div", { className: kind, textContent: text }))
  panel.replaceChildren(element("div", { className: "heading", textContent: heading }), ...lines)
  // Narrow: the formula unfolds below its step. Wide: it has its own place below the score.
  const home = state.narrow && state.open ? steps[state.open - 1].section : state.columns[0]
  if (panel.parentElement !== home) home.append(panel)
  panel.hidden = state.narrow && !state.open
}
