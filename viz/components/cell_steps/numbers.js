// Formats numbers so that what is shown adds up: each shown number is computed from the shown ones before it, and all
// parts of a sum have the same number of decimals, with the rounding error in the last part.

import { clamp } from "../shared/numbers.js"
import { WHOLE, fill, isolate } from "../shared/words.js"
/** @import { State } from "./types" */

export const CHAIN = 4 // decimals from the dot product to the weight: an error of 0.0001 there is 0.01 % of the weight

// Decimals that give a number of this size about four significant digits.
export function decimalsFor(size) {
  if (!(size > 0)) return 2
  return clamp(3 - Math.floor(Math.log10(size)), 1, 6)
}

export const fixed = (value, decimals) => {
  const digits = value.toFixed(decimals)
  return (Number(digits) === 0 ? digits.replace("-", "") : digits).replace("-", "−")
}

export const signed = (value, decimals) => (Number(value.toFixed(decimals)) >= 0 ? "+" : "") + fixed(value, decimals)

// In a product or a sum, a negative number is in brackets.
export const inner = (value, decimals) => (value < 0 ? `(${fixed(value, decimals)})` : fixed(value, decimals))

export const rounded = (value, decimals) => Number(value.toFixed(decimals))

// " + 1.20 − 0.31 + …": the terms of a sum after the first.
export const addend = (value, decimals) => (value < 0 ? ` − ${fixed(-value, decimals)}` : ` + ${fixed(value, decimals)}`)

export const subscript = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit] ?? digit).join("")

export const percent = (value, texts) => {
  const digits = value >= 0.9995 ? 1 : value >= 0.0995 ? 1 : value >= 0.001 ? 2 : value === 0 ? 0 : 4
  const edge = value >= 0.9995 && value < WHOLE ? "> 99.9" : value > 0 && value < 5e-7 ? "< 0.0001" : null // neither all nor nothing
  const written = fill(texts.percent ?? "{number} %", { number: edge ?? (value * 100).toFixed(digits) })
  return written.replace(" ", "\u00a0")
}

export const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

export const norm = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))

// A row of the matrix, as a view.
export const rowOf = (matrix, row) => matrix.subarray(row * matrix.shape[1], (row + 1) * matrix.shape[1])

// Everything the picture shows of the chosen key, derived from the packed arrays. dot, scaled, capped, bias, score and
// exponent are the shown numbers; the weight is the model's.
/** @param {State} state */
export function readCell({ meta, arrays, key }) {
  const at = arrays.positions.indexOf(key)
  const [k, v] = [rowOf(arrays.k, at), rowOf(arrays.v, at)]
  const dot = rounded(arrays.dots[at], CHAIN)
  const scaled = rounded(dot * meta.scale, CHAIN)
  const capped = meta.softcap === null ? scaled : rounded(meta.softcap * Math.tanh(scaled / meta.softcap), CHAIN)
  const bias = arrays.biases ? rounded(arrays.biases[at], CHAIN) : null
  const score = bias === null ? capped : rounded(capped + bias, CHAIN)
  const visible = !Number.isNaN(arrays.scores[at])
  const lse = rounded(meta.lse ?? 0, CHAIN)
  return {
    at, k, v, dot, scaled, capped, bias, score, visible, lse,
    exponent: rounded(score - lse, CHAIN),
    weight: arrays.weights[at],
    product: arrays.q.map((value, i) => value * k[i]),
    token: isolate(meta.labels[at]),
    query: isolate(meta.query[0]),
  }
}

// Two factors and their product as shown.
export function shownProduct(q, k, decimals) {
  const [left, right] = [rounded(q, 3), rounded(k, 3)]
  return { left, right, product: rounded(left * right, decimals) }
}
