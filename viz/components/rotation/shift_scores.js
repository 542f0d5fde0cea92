// The scores of one query and one key at any two positions, computed by rotating both as the model does.

import { extent } from "../shared/numbers.js"
/** @import { ShiftState } from "./types" */

export const CELLS = 64 // positions of the map on each side
const MOST_POINTS = 257 // positions at which the flat line is computed

// Pairs [x, y, x, y, …] rotated to a position, as the model rotates them.
function turned(pairs, theta, position) {
  const out = new Float64Array(pairs.length)
  for (let i = 0; i < theta.length; i++) {
    const [c, s] = [Math.cos(position * theta[i]), Math.sin(position * theta[i])]
    const [x, y] = [pairs[2 * i], pairs[2 * i + 1]]
    out[2 * i] = x * c - y * s
    out[2 * i + 1] = x * s + y * c
  }
  return out
}

/** @param {ShiftState} state */
function scoreOf({ meta }, q, k) {
  let sum = 0
  for (let i = 0; i < q.length; i++) sum += q[i] * k[i]
  const total = meta.scale * sum + meta.rest
  return meta.softcap === null ? total : meta.softcap * Math.tanh(total / meta.softcap)
}

// The score with the query's content at m and the key's at n: rotate both vectors, then take their dot product.
export const scoreAt = (state, m, n) => scoreOf(state, turned(state.arrays.q, state.arrays.theta, m), turned(state.arrays.k, state.arrays.theta, n))

// Every cell of the window, from the 64 rotated queries and the 64 rotated keys.
export function windowScores(state, m0, n0) {
  const { q, k, theta } = state.arrays
  const places = Array.from({ length: CELLS }, (_, i) => i)
  const [rows, columns] = [places.map((i) => turned(q, theta, m0 + i)), places.map((i) => turned(k, theta, n0 + i))]
  return rows.map((row) => columns.map((column) => scoreOf(state, row, column)))
}

// The score as a function of the difference. The key is at position `reach`, so that the query has room on both sides.
export function byDifference(state) {
  const reach = Math.max(CELLS - 1, Math.abs(state.m - state.n))
  const key = `${reach}`
  if (state.curveKey !== key) {
    const k = turned(state.arrays.k, state.arrays.theta, reach)
    const differences = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach)
    state.byDifference = differences.map((d) => [d, scoreOf(state, turned(state.arrays.q, state.arrays.theta, reach + d), k)])
    Object.assign(state, { curveKey: key, reach })
  }
  return state.byDifference
}

// The score while both positions move with their difference locked, over the whole slider.
export function alongDiagonal(state) {
  const difference = state.m - state.n
  const end = state.ends[state.span]
  const key = `${difference},${end}`
  if (state.flatKey !== key) {
    const [first, last] = [Math.max(0, difference), Math.min(end, end + difference)]
    const count = Math.min(MOST_POINTS, last - first + 1)
    const places = Array.from({ length: count }, (_, i) => Math.round(first + ((last - first) * i) / Math.max(1, count - 1)))
    state.flat = places.map((m) => [m, scoreAt(state, m, m - difference)])
    const [low, high] = extent(state.flat.map(([, score]) => score))
    Object.assign(state, { flatKey: key, spread: high - low })
  }
  return state.flat
}
