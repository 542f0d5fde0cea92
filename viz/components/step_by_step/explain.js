// Explain how a number is computed: the rows and columns it comes from, and its sum in full.

import { fill, isolate } from "../shared/words.js"
import { columnsOf, subscript } from "./arithmetic.js"
import { normal, sigmoid } from "./feed_forward.js"
import { bracketed, equals, summed, written } from "./written.js"
/** @import { DrawnChain, DrawnStep, Told } from "./types" */
/** @import { Texts } from "../shared/types" */

const FEW = 3 // decimals of a sum
const STEEP = 30 // for larger scores, exp(score) is too large to be shown

// Explain the number in row i and column j of this step's result.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
export function explained(chain, step, i, j, texts) {
  const here = { matrix: step.result, row: i, column: j }
  const told = KINDS[step.kind](chain, step, i, j, texts)
  return { lit: [...told.lit, here], lines: told.lines }
}

// The name of a cell.
const cellName = (matrix, i, j) => `${matrix.name}[${matrix.rows[i]}, ${matrix.columns[j]}]`

// The name of a row's vector: q₂, or q(·it) if rows are named by tokens.
const rowName = (matrix, i) => (matrix.vector ? `${matrix.vector}(${isolate(matrix.rows[i])})` : matrix.rows[i])

/** @type {Record<string, (chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told>} */
const KINDS = {
  given: (chain, step, i, j, texts) => ({
    lit: [], lines: [fill(texts.given_cell, { row: chain.matrices[step.result].rows[i], column: chain.matrices[step.result].columns[j] })],
  }),
  model: (chain, step, i, j, texts) => ({
    lit: [], lines: [`${cellName(chain.matrices[step.result], i, j)} = ${written(chain.matrices[step.result].values[i][j], 4)}`, step.note ?? texts.model_cell ?? ""],
  }),
  product, scale, mask, apply, add: paired(" + "), times: paired(" · "), softmax: share, concat, rotate, sum: addedUp, gradient, told: saidByHost,
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function product({ matrices }, step, i, j, texts) {
  const [left, right, result] = [matrices[step.left ?? ""], matrices[step.right ?? ""], matrices[step.result]]
  const a = left.values[i]
  const b = step.turned ? right.values[j] : columnsOf(right.values)[j]
  const total = result.values[i][j]
  const products = a.map((value, t) => value * b[t])
  const rest = step.rest ? step.rest[i][j] : null
  const more = restWords(step, i, texts)
  const factors = a.map((value, t) => `${bracketed(value, FEW)}·${bracketed(b[t], FEW)}`)
  const name = step.turned ? `${rowName(left, i)} · ${rowName(right, j)}` : cellName(result, i, j)
  const shown = adjusted(products, rest, total)
  return {
    lit: [{ matrix: step.left ?? "", row: i }, step.turned ? { matrix: step.right ?? "", row: j } : { matrix: step.right ?? "", column: j }],
    lines: [
      `${name} = ${[...factors, ...(more ? [more] : [])].join(" + ")}`,
      `${equals([...a, ...b, ...products])} ${summed(shown)} ${adds(shown, total)} ${written(total, FEW)}`,
    ],
  }
}

// The terms as shown. The rest, for terms that are not shown, absorbs the rounding errors, so that the sum is exact.
function adjusted(products, rest, total) {
  if (rest === null) return products
  const shown = products.map((value) => Number(value.toFixed(FEW)))
  return [...shown, Number(total.toFixed(FEW)) - shown.reduce((sum, value) => sum + value, 0)]
}

// "=" if the shown terms add up to the shown total, otherwise "≈".
function adds(terms, total) {
  const sum = terms.reduce((all, one) => all + Number(one.toFixed(FEW)), 0)
  return Math.abs(sum - Number(total.toFixed(FEW))) < 10 ** -FEW / 2 ? "=" : "≈"
}

function restWords(step, i, texts) {
  const count = step.more?.[i] ?? 0
  return count ? fill(texts[`${count === 1 ? "one" : "more"}_${step.of}`], { count }) : ""
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function scale({ matrices }, step, i, j, texts) {
  const [before, after] = [matrices[step.left ?? ""].values[i][j], matrices[step.result].values[i][j]]
  const factor = step.factor ?? 1
  const scaled = before * factor
  const lines = []
  if (step.root) lines.push(`${written(before, FEW)} ÷ √${step.root} = ${written(before, FEW)} ÷ ${written(Math.sqrt(step.root), 4)} ${equals([before, factor, scaled])} ${written(scaled, FEW)}`)
  else if (factor === 1) lines.push(`${written(before, FEW)}: ${texts.not_scaled ?? ""}`)
  else lines.push(`${written(before, FEW)} · ${written(factor, 4)} ≈ ${written(scaled, FEW)}`)
  const cap = step.softcap ?? null
  const capped = cap === null ? scaled : cap * Math.tanh(scaled / cap)
  if (cap !== null) lines.push(`${written(cap)} · tanh(${written(scaled, FEW)} ÷ ${written(cap)}) ≈ ${written(capped, FEW)}`)
  if (step.bias) lines.push(`${summed([capped, step.bias[i][j]])} ≈ ${written(after, FEW)} (${texts.bias ?? ""})`)
  return { lit: [{ matrix: step.left ?? "", row: i, column: j }], lines }
}

// Explain the activation of one number.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function apply({ matrices }, step, i, j) {
  const [before, after] = [matrices[step.left ?? ""].values[i][j], matrices[step.result].values[i][j]]
  const [name, x, y] = [step.activation ?? "", written(before, FEW), written(after, FEW)]
  const part = { SiLU: ["σ", sigmoid], GELU: ["Φ", normal] }[name]
  const way = part && typeof part[1] === "function" ? `${x} · ${part[0]}(${x}) ≈ ${bracketed(before, FEW)} · ${written(part[1](before), 4)} ≈` : name === "ReLU" ? `max(0, ${x}) =` : "≈"
  return { lit: [{ matrix: step.left ?? "", row: i, column: j }], lines: [`${name}(${x}) ${way.startsWith("≈") ? "" : "= "}${way} ${y}`] }
}

// Add or multiply two numbers at the same place; a bias has one row for all tokens.
/** @type {(sign: string) => (chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function paired(sign) {
  return ({ matrices }, step, i, j) => {
    const [left, right, result] = [matrices[step.left ?? ""], matrices[step.right ?? ""], matrices[step.result]]
    const row = right.values.length === 1 ? 0 : i
    const [a, b, made] = [left.values[i][j], right.values[row][j], result.values[i][j]]
    const line = `${cellName(result, i, j)} = ${bracketed(a, FEW)}${sign}${bracketed(b, FEW)} ${equals([a, b, made])} ${written(made, FEW)}`
    return { lit: [{ matrix: step.left ?? "", row: i, column: j }, { matrix: step.right ?? "", row, column: j }], lines: [line] }
  }
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function mask({ matrices }, step, i, j, texts) {
  const [before, result] = [matrices[step.left ?? ""], matrices[step.result]]
  const value = result.values[i][j]
  const words = value === -Infinity ? texts.hidden_cell : step.causal ? texts.seen_cell : texts.seen_all
  const names = { query: result.rows[i], key: result.columns[j], value: written(before.values[i][j], FEW) }
  return { lit: [{ matrix: step.left ?? "", row: i, column: j }], lines: [fill(words, names)] }
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function share({ matrices }, step, i, j, texts) {
  const scores = matrices[step.left ?? ""].values[i]
  const weight = matrices[step.result].values[i][j]
  const lit = [{ matrix: step.left ?? "", row: i }]
  const top = step.top?.[i] ?? Math.max(...scores)
  const off = Math.abs(top) > STEEP ? top : 0
  const seen = scores.filter((score) => score !== -Infinity)
  const power = (score) => `e^${off ? `(${written(score, 2)}−${bracketed(off, 2)})` : bracketed(score, 2)}`
  if (scores[j] === -Infinity) return { lit, lines: [`e^(−∞) = 0`, texts.no_share ?? ""] }
  const exponents = seen.map((score) => Math.exp(score - off))
  const rest = (step.rest?.[i][0] ?? 0) * Math.exp(top - off)
  const more = restWords(step, i, texts)
  const sum = exponents.reduce((all, one) => all + one, rest)
  const own = Math.exp(scores[j] - off)
  const below = [...seen.map(power), ...(more ? [more] : [])].join(" + ")
  return {
    lit,
    lines: [
      `${power(scores[j])} ÷ (${below})`,
      `≈ ${written(own, FEW)} ÷ (${summed(more ? [...exponents, rest] : exponents)}) ≈ ${written(own, FEW)} ÷ ${written(sum, FEW)} ≈ ${written(weight, FEW)}`,
    ],
  }
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function concat({ matrices }, step, i, j, texts) {
  let column = j
  for (const [head, name] of (step.parts ?? []).entries()) {
    const part = matrices[name]
    const width = part.values[0].length
    if (column < width) {
      const words = fill(texts.concat_cell, { head, row: part.rows[i], value: written(part.values[i][column], FEW) })
      return { lit: [{ matrix: name, row: i, column }], lines: [words] }
    }
    column -= width
  }
  return { lit: [], lines: [] }
}

/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function rotate({ matrices }, step, i, j, texts) {
  const [before, after] = [matrices[step.left ?? ""], matrices[step.result]]
  const [partner, cos, sin] = [step.partner?.[j] ?? -1, step.cos?.[i][j] ?? 1, step.sin?.[i][j] ?? 0]
  const own = { matrix: step.left ?? "", row: i, column: j }
  const a = before.values[i][j]
  if (partner < 0) return { lit: [own], lines: [fill(texts.not_turned, { value: written(a, FEW) })] }
  const b = before.values[i][partner]
  const line = `${cellName(after, i, j)} = ${bracketed(a, FEW)}·cos θ ${sin < 0 ? "−" : "+"} ${bracketed(b, FEW)}·sin θ`
  const numbers = `≈ ${bracketed(a, FEW)}·${bracketed(cos, 4)} ${sin < 0 ? "−" : "+"} ${bracketed(b, FEW)}·${bracketed(Math.abs(sin), 4)} ≈ ${written(after.values[i][j], FEW)}`
  return { lit: [own, { matrix: step.left ?? "", row: i, column: partner }], lines: [line, numbers] }
}

// Sum the heads' contributions to the layer's output, one row each.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function addedUp({ matrices }, step, i, j, texts) {
  const [left, result] = [matrices[step.left ?? ""], matrices[step.result]]
  const terms = left.values.map((row) => row[j])
  const total = result.values[i][j]
  const rest = step.more?.[i] ? (step.rest?.[i][j] ?? 0) : null
  const names = [...left.rows, ...(rest === null ? [] : [restWords(step, i, texts)])].join(" + ")
  const shown = adjusted(terms, rest, total)
  return {
    lit: [{ matrix: step.left ?? "", column: j }],
    lines: [`${cellName(result, i, j)} = ${names}`, `${equals(terms)} ${summed(shown)} ${adds(shown, total)} ${written(total, FEW)}`],
  }
}

// The derivative of a weight with respect to a score: y (1 − y) for its own score, − y y′ for another.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function gradient({ matrices }, step, i, j) {
  const weights = matrices[step.left ?? ""].values[0]
  const value = matrices[step.result].values[i][j]
  const [a, b] = [weights[i], weights[j]].map((weight) => written(weight, 6))
  const line = i === j ? `y${subscript(i)}·(1 − y${subscript(i)}) ≈ ${a}·(1 − ${a})` : `− y${subscript(i)}·y${subscript(j)} ≈ −${a}·${b}`
  const lit = [...new Set([i, j])].map((column) => ({ matrix: step.left ?? "", row: 0, column }))
  return { lit, lines: [`∂y${subscript(i)} ∕ ∂s${subscript(j)} = ${line} ≈ ${written(value, 6)}`] }
}

// The host's explanation of a number, and the cells that it highlights: "i" and "j" mean the number's own row and
// column.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => Told} */
function saidByHost(_chain, step, i, j) {
  const place = (at) => (at === "i" ? i : at === "j" ? j : at)
  const lit = (step.lights ?? []).map(({ matrix, row, column }) => ({
    matrix, ...(row === undefined ? {} : { row: place(row) }), ...(column === undefined ? {} : { column: place(column) }),
  }))
  return { lit, lines: step.lines?.[i][j] ?? [] }
}
