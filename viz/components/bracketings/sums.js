// Linear attention computed in both orders: over a map of all pairs, and over a state that grows token by token.
// A query's row is Σ λ^(i − j) (q_i·k_j) v_j, divided by the sum of its weights where the rule divides.

/** @import { Blocks, Work } from "./types" */

const APART = 16 // tokens between stored states: a dragged slider adds fewer than these

/** @type {(work: Work, i: number, j: number) => number} */
export function weightOf({ d, q, k, decay }, i, j) {
  let product = 0
  for (let a = 0; a < d; a++) product += q[i * d + a] * k[j * d + a]
  return decay === 1 ? product : product * decay ** (i - j)
}

// The map of all pairs, 0 where a causal mask hides the key.
/** @type {(work: Work) => Float64Array} */
export function mapOf(work) {
  const { n, causal } = work
  const map = new Float64Array(n * n)
  for (let i = 0; i < n; i++) for (let j = 0; j < (causal ? i + 1 : n); j++) map[i * n + j] = weightOf(work, i, j)
  return map
}

// (Q Kᵀ) V: each row of the map times the values.
/** @type {(work: Work, map: Float64Array) => Float64Array} */
export function mapFirst({ n, dv, v, divides }, map) {
  const output = new Float64Array(n * dv)
  for (let i = 0; i < n; i++) {
    let total = 0
    for (let j = 0; j < n; j++) {
      const weight = map[i * n + j]
      total += weight
      if (weight) for (let c = 0; c < dv; c++) output[i * dv + c] += weight * v[j * dv + c]
    }
    if (divides && total) for (let c = 0; c < dv; c++) output[i * dv + c] /= total
  }
  return output
}

/** @typedef {{ sums: Float64Array, keys: Float64Array }} State Σ k vᵀ, d × d_v, and Σ k, each with its decay. */

/** @type {(work: Work) => State} */
const blank = ({ d, dv }) => ({ sums: new Float64Array(d * dv), keys: new Float64Array(d) })

/** @type {(work: Work, state: State, token: number) => void} */
function read({ d, dv, k, v, decay }, { sums, keys }, token) {
  for (let a = 0; a < d; a++) {
    const key = k[token * d + a]
    keys[a] = decay * keys[a] + key
    for (let c = 0; c < dv; c++) sums[a * dv + c] = decay * sums[a * dv + c] + key * v[token * dv + c]
  }
}

// The states after every few tokens, starting with the empty one.
/** @type {(work: Work) => State[]} */
export function keptStates(work) {
  const state = blank(work)
  const kept = [blank(work)]
  for (let token = 0; token < work.n; token++) {
    read(work, state, token)
    if ((token + 1) % APART === 0) kept.push({ sums: state.sums.slice(), keys: state.keys.slice() })
  }
  return kept
}

// The state after so many tokens.
/** @type {(work: Work, kept: State[], count: number) => State} */
export function stateAfter(work, kept, count) {
  const from = Math.floor(count / APART)
  const state = { sums: kept[from].sums.slice(), keys: kept[from].keys.slice() }
  for (let token = from * APART; token < count; token++) read(work, state, token)
  return state
}

// Q (Kᵀ V): each query reads the state; with a causal mask the one after its own token, otherwise the last one.
/** @type {(work: Work) => Float64Array} */
export function stateFirst(work) {
  const { n, dv, causal } = work
  const output = new Float64Array(n * dv)
  const state = blank(work)
  if (!causal) for (let token = 0; token < n; token++) read(work, state, token)
  for (let i = 0; i < n; i++) {
    if (causal) read(work, state, i)
    output.set(rowOf(work, state, i, 1), i * dv)
  }
  return output
}

// What a query reads from a state that has decayed by `faded`.
/** @type {(work: Work, state: State, i: number, faded: number) => Float64Array} */
function rowOf({ d, dv, q, divides }, { sums, keys }, i, faded) {
  const row = new Float64Array(dv)
  let total = 0
  for (let a = 0; a < d; a++) {
    const query = faded * q[i * d + a]
    total += query * keys[a]
    for (let c = 0; c < dv; c++) row[c] += query * sums[a * dv + c]
  }
  return divides && total ? row.map((value) => value / total) : row
}

// By blocks of `size` tokens (Lightning): inside a block with its own map, for everything before it with the state.
/** @type {(work: Work, size: number) => Blocks} */
export function blocksOf(work, size) {
  const { n, dv, v, decay } = work
  const [intra, inter] = [new Float64Array(n * dv), new Float64Array(n * dv)]
  const state = blank(work)
  for (let start = 0; start < n; start += size) {
    const stop = Math.min(n, start + size)
    for (let i = start; i < stop; i++) {
      inter.set(rowOf(work, state, i, decay ** (i - start + 1)), i * dv)
      for (let j = start; j <= i; j++) {
        const weight = weightOf(work, i, j)
        for (let c = 0; c < dv; c++) intra[i * dv + c] += weight * v[j * dv + c]
      }
    }
    for (let token = start; token < stop; token++) read(work, state, token)
  }
  return { size, intra, inter }
}

// Multiply-adds for a text: products inside the blocks, and those that write and read the state.
/** @type {(n: number, d: number, dv: number, size: number) => { left: number, right: number }} */
export const addsOf = (n, d, dv, size) => ({ left: n * Math.min(size, n) * (d + dv), right: 2 * n * d * dv })

// The largest difference between two outputs.
/** @type {(one: Float64Array, other: Float64Array) => number} */
export const apart = (one, other) => one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at])), 0)

// The cells of the map that the left product computes, and those covered by the state.
/** @type {(n: number, size: number) => { intra: number, inter: number }} */
export function cellsOf(n, size) {
  let intra = 0
  for (let start = 0; start < n; start += size) {
    const count = Math.min(size, n - start)
    intra += (count * (count + 1)) / 2
  }
  return { intra, inter: (n * (n + 1)) / 2 - intra }
}
