// Attention by tiles, as numbers: which tile comes when, what is moved for it, and a row's maximum and sum after each.
// Two orders: "keys", the outer loop of Dao et al. 2022 (algorithm 1), "queries", that of Dao 2023 (algorithm 1).

/** @import { Met, Move, Plan, Reel, Work } from "./types" */

export const START = 0 // what a frame does
export const READ = 1
export const COMPUTE = 2
export const WRITE = 3

/** @type {(n: number, size: number) => number} */
const blocksIn = (n, size) => Math.ceil(n / size)

// Which tiles have a visible cell: for each block of queries the blocks of keys, ascending.
/** @type {(work: Work, plan: Plan) => number[][]} */
export function seenTiles({ n, scores }, { rows, columns }) {
  const across = blocksIn(n, columns)
  const seen = Array.from({ length: blocksIn(n, rows) }, () => new Uint8Array(across))
  for (let r = 0; r < n; r++) {
    const row = seen[Math.floor(r / rows)]
    for (let c = 0; c < n; c++) if (scores[r * n + c] > -Infinity) row[Math.floor(c / columns)] = 1
  }
  return seen.map((row) => [...row.keys()].filter((j) => row[j]))
}

// The film: for each frame its kind, its tile, and how many numbers were read and written up to its end.
/** @type {(work: Work, plan: Plan) => Reel} */
export function reelOf(work, plan) {
  const seen = seenTiles(work, plan)
  const tiles = []
  const across = blocksIn(work.n, plan.columns)
  if (plan.order === "keys") {
    for (let j = 0; j < across; j++) seen.forEach((row, i) => row.includes(j) && tiles.push([i, j]))
  } else seen.forEach((row, i) => row.forEach((j) => tiles.push([i, j])))
  const firstRow = Array.from({ length: across }, (_, j) => seen.findIndex((row) => row.includes(j)))
  const lastRow = firstRow.map((_, j) => seen.findLastIndex((row) => row.includes(j)))
  const reel = { work, plan, seen, firstRow, lastRow, kind: [START], i: [-1], j: [-1], done: [0], read: [0], written: [0], tiles: tiles.length }
  reel.written[0] = sizeOf(movesOf(reel, 0), "write")
  tiles.forEach(([i, j], at) => {
    const kinds = plan.order === "keys" || j === seen[i].at(-1) ? [READ, COMPUTE, WRITE] : [READ, COMPUTE]
    for (const kind of kinds) {
      const frame = reel.kind.length
      reel.kind.push(kind)
      reel.i.push(i)
      reel.j.push(j)
      reel.done.push(at + (kind === READ ? 0 : 1))
      const moves = movesOf(reel, frame)
      reel.read.push(reel.read[frame - 1] + sizeOf(moves, "read"))
      reel.written.push(reel.written[frame - 1] + sizeOf(moves, "write"))
    }
  })
  return reel
}

/** @type {(moves: Move[], way: string) => number} */
const sizeOf = (moves, way) => moves.reduce((sum, move) => sum + (move.way === way ? move.numbers : 0), 0)

// The tokens of a block, the last one excluded.
/** @type {(n: number, size: number, block: number) => [number, number]} */
export const spanOf = (n, size, block) => [block * size, Math.min(n, (block + 1) * size)]

// What a frame moves between the two memories.
/** @type {(reel: Reel, frame: number) => Move[]} */
export function movesOf({ work, plan, seen, firstRow, kind, i, j }, frame) {
  const { n, d, dv } = work
  const move = (way, name, [first, stop], numbers) => ({ way, name, first, stop, numbers: (stop - first) * numbers })
  const all = /** @type {[number, number]} */ ([0, n])
  const what = kind[frame]
  if (what === START) return plan.order === "keys" ? [move("write", "O", all, dv), move("write", "m", all, 1), move("write", "l", all, 1)] : []
  if (what === COMPUTE) return []
  const queries = spanOf(n, plan.rows, i[frame])
  const keys = spanOf(n, plan.columns, j[frame])
  if (plan.order === "keys") {
    const sums = (way) => [move(way, "O", queries, dv), move(way, "m", queries, 1), move(way, "l", queries, 1)]
    if (what === WRITE) return sums("write")
    const first = firstRow[j[frame]] === i[frame]
    return [...(first ? [move("read", "K", keys, d), move("read", "V", keys, dv)] : []), move("read", "Q", queries, d), ...sums("read")]
  }
  if (what === WRITE) return [move("write", "O", queries, dv), move("write", "L", queries, 1)]
  const first = j[frame] === seen[i[frame]][0]
  return [...(first ? [move("read", "Q", queries, d)] : []), move("read", "K", keys, d), move("read", "V", keys, dv)]
}

// The contents of the fast memory at a frame: names, tokens, numbers.
/** @type {(reel: Reel, frame: number) => { name: string, first: number, stop: number, numbers: number }[]} */
export function heldAt({ work, plan, lastRow, kind, i, j }, frame) {
  const { n, d, dv } = work
  const what = kind[frame]
  if (what === START) return []
  const [q0, q1] = spanOf(n, plan.rows, i[frame])
  const [k0, k1] = spanOf(n, plan.columns, j[frame])
  const block = (name, first, stop, numbers) => ({ name, first, stop, numbers: (stop - first) * numbers })
  const keys = [block("K", k0, k1, d), block("V", k0, k1, dv)]
  const queries = [block("Q", q0, q1, d), block("O", q0, q1, dv), block("m", q0, q1, 1), block("l", q0, q1, 1)]
  if (what === READ) return [...keys, ...queries]
  if (what === COMPUTE) return [...keys, ...queries, block("S", q0, q1, k1 - k0)]
  if (plan.order === "queries") return []
  return lastRow[j[frame]] === i[frame] ? [] : keys // they stay for the next block of queries
}

// How many tiles of a block of queries are computed after so many tiles in all.
/** @type {(reel: Reel, frame: number) => number[]} */
export function doneOf(reel, frame) {
  const done = reel.seen.map(() => 0)
  for (let at = 1; at <= frame; at++) if (reel.kind[at] === COMPUTE) done[reel.i[at]] += 1
  return done
}

// The maximum and the sum of every row after each of its tiles; the sink, where there is one, is in the last sum.
// Lines 10 and 11 of algorithm 1: a tile's own maximum and sum, then both rescaled to the larger maximum.
/** @type {(work: Work, plan: Plan, seen: number[][]) => { max: Float64Array, sum: Float64Array, across: number }} */
export function sumsOf(work, plan, seen) {
  const across = blocksIn(work.n, plan.columns)
  const [max, sum] = [new Float64Array(work.n * across), new Float64Array(work.n * across)]
  for (let row = 0; row < work.n; row++) {
    metBy(work, plan, seen, row, false).forEach((met, t) => {
      max[row * across + t] = met.max
      sum[row * across + t] = met.sum
    })
  }
  return { max, sum, across }
}

// A row, tile by tile: its keys, and its maximum, sum and, if requested, output after each.
/** @type {(work: Work, plan: Plan, seen: number[][], row: number, withOutput?: boolean) => Met[]} */
export function metBy(work, plan, seen, row, withOutput = true) {
  const { n, dv, scores, v, sink } = work
  const tiles = seen[Math.floor(row / plan.rows)]
  let [max, sum, mixed] = [-Infinity, 0, new Float64Array(withOutput ? dv : 0)]
  return tiles.map((j, t) => {
    const [first, stop] = spanOf(n, plan.columns, j)
    let tileMax = -Infinity
    for (let c = first; c < stop; c++) tileMax = Math.max(tileMax, scores[row * n + c])
    const before = { max, sum }
    const larger = Math.max(max, tileMax)
    const shift = larger === -Infinity ? 0 : larger
    const shrink = Math.exp(max - shift) // 0 before the first key that is seen
    let tileSum = 0
    const added = new Float64Array(mixed.length)
    for (let c = first; c < stop; c++) {
      const weight = Math.exp(scores[row * n + c] - shift)
      tileSum += weight
      for (let x = 0; x < added.length; x++) added[x] += weight * v[c * dv + x]
    }
    mixed = mixed.map((value, x) => value * shrink + added[x])
    max = larger
    sum = sum * shrink + tileSum
    if (sink !== null && t === tiles.length - 1) {
      const top = Math.max(shift, sink) // a sink may be larger than all of the row
      mixed = mixed.map((value) => value * Math.exp(shift - top))
      sum = sum * Math.exp(shift - top) + Math.exp(sink - top)
      max = top
    }
    const total = sum || 1
    return { j, first, stop, before, tileMax, shrink, tileSum, max, sum, output: mixed.map((value) => value / total) }
  })
}

// The row by softmax over all keys at once: its weights and its output.
/** @type {(work: Work, row: number) => { shares: Float64Array, output: Float64Array }} */
export function softmaxRow({ n, dv, scores, v, sink }, row) {
  let top = sink ?? -Infinity
  for (let c = 0; c < n; c++) top = Math.max(top, scores[row * n + c])
  if (top === -Infinity) top = 0
  const shares = Float64Array.from({ length: n }, (_, c) => Math.exp(scores[row * n + c] - top))
  const total = shares.reduce((sum, one) => sum + one, sink === null ? 0 : Math.exp(sink - top)) || 1
  const output = new Float64Array(dv)
  for (let c = 0; c < n; c++) {
    shares[c] /= total
    for (let x = 0; x < dv; x++) output[x] += shares[c] * v[c * dv + x]
  }
  return { shares, output }
}
