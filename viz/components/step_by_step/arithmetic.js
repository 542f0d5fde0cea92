// Compute attention on a few small numbers and keep every matrix; attention/small_attention.py does the same in torch.

/** @import { DrawnChain, DrawnMatrix, Numbers, Rows, StepSettings, DrawnStep } from "./types" */

/** @type {(a: Rows, b: Rows) => Rows} */
export const times = (a, b) => a.map((row) => columnsOf(b).map((column) => dot(row, column)))

/** @type {(a: number[], b: number[]) => number} */
export const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0)

/** @type {(rows: Rows) => Rows} */
export const columnsOf = (rows) => (rows[0] ?? []).map((_, j) => rows.map((row) => row[j]))

// The weights of a row of scores, where −∞ marks masked keys. The maximum is subtracted first to prevent overflow.
/** @type {(scores: number[]) => number[]} */
export function softmax(scores) {
  const top = Math.max(...scores)
  const exponents = scores.map((score) => Math.exp(score - top))
  const sum = exponents.reduce((all, one) => all + one, 0)
  return exponents.map((one) => one / sum)
}

const cut = (rows, head, size) => rows.map((row) => row.slice(head * size, (head + 1) * size))
/** @type {(letter: string, count: number) => string[]} */
export const named = (letter, count) => Array.from({ length: count }, (_, i) => letter + subscript(i))
/** @type {(count: number, first?: number) => string[]} */
export const numbered = (count, first = 0) => Array.from({ length: count }, (_, i) => String(i + first))

/** @type {(number: number) => string} */
export const subscript = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("")

// All steps of one head, and what concat needs of the other heads.
/** @type {(numbers: Numbers, settings: StepSettings) => DrawnChain} */
export function smallChain(numbers, { heads, head, causal, scaled, kv_heads: shared = heads }) {
  const [tokens, d] = [numbers.X.length, numbers.X[0].length]
  const size = d / heads
  const keysOf = (/** @type {number} */ h) => Math.floor(h / (heads / shared)) // the shared key and value head in GQA
  const made = Array.from({ length: heads }, (_, h) => oneHead(numbers, [h, keysOf(h)], size, causal, scaled))
  const own = made[head]
  const inputs = numbered(d)
  const dims = numbered(size, head * size)
  const keyDims = numbered(size, keysOf(head) * size)
  const concat = numbers.X.map((_, i) => made.flatMap((one) => one.O[i]))
  const of = (letter) => named(letter, tokens)
  /** @type {Record<string, DrawnMatrix>} */
  const matrices = {
    X: matrix("X", numbers.X, of("x"), inputs),
    WQ: matrix("W_Q", own.WQ, inputs, dims, "query"), Q: matrix("Q", own.Q, of("q"), dims, "query"),
    WK: matrix("W_K", own.WK, inputs, keyDims, "key"), K: matrix("K", own.K, of("k"), keyDims, "key"),
    WV: matrix("W_V", own.WV, inputs, keyDims, "value"), V: matrix("V", own.V, of("v"), keyDims, "value"),
    S: matrix("Q Kᵀ", own.S, of("q"), of("k")), C: matrix("S", own.C, of("q"), of("k")),
    M: matrix("S + mask", own.M, of("q"), of("k")), A: matrix("A", own.A, of("q"), of("k"), "", "share"),
    O: matrix("O", own.O, of("o"), dims, "value"),
    Z: matrix("concat", concat, of("z"), inputs, "value"),
    WO: matrix("W_O", numbers.WO, inputs, inputs), Y: matrix("Y", times(concat, numbers.WO), of("y"), inputs),
  }
  made.forEach((one, h) => {
    matrices[`O${h}`] = matrix(heads > 1 ? `O${subscript(h)}` : "O", one.O, of("o"), numbered(size, h * size), "value")
  })
  return { matrices, steps: stepsOf(size, heads, causal, scaled) }
}

/** @type {(name: string, values: Rows, rows: string[], columns: string[], side?: string, unit?: string) => DrawnMatrix} */
export const matrix = (name, values, rows, columns, side = "", unit = "") => ({
  name, values, rows, columns, side, unit, vector: "", shape: [values.length, (values[0] ?? []).length],
})

/** @type {(numbers: Numbers, head: [own: number, keys: number], size: number, causal: boolean, scaled: boolean) => Record<string, Rows>} */
function oneHead(numbers, [own, keys], size, causal, scaled) {
  const WQ = cut(numbers.WQ, own, size)
  const [WK, WV] = [numbers.WK, numbers.WV].map((w) => cut(w, keys, size))
  const [Q, K, V] = [WQ, WK, WV].map((w) => times(numbers.X, w))
  const S = times(Q, columnsOf(K))
  const C = S.map((row) => row.map((score) => (scaled ? score / Math.sqrt(size) : score)))
  const M = C.map((row, i) => row.map((score, j) => (causal && j > i ? -Infinity : score)))
  const A = M.map(softmax)
  return { WQ, WK, WV, Q, K, V, S, C, M, A, O: times(A, V) }
}

/** @type {(size: number, heads: number, causal: boolean, scaled: boolean) => DrawnStep[]} */
function stepsOf(size, heads, causal, scaled) {
  return [
    { id: "x", kind: "given", result: "X" },
    { id: "q", kind: "product", left: "X", right: "WQ", result: "Q" },
    { id: "k", kind: "product", left: "X", right: "WK", result: "K" },
    { id: "v", kind: "product", left: "X", right: "WV", result: "V" },
    { id: "scores", kind: "product", left: "Q", right: "K", turned: true, result: "S" },
    { id: "scale", kind: "scale", left: "S", result: "C", factor: scaled ? 1 / Math.sqrt(size) : 1, ...(scaled && { root: size }) },
    { id: "mask", kind: "mask", left: "C", result: "M", causal },
    { id: "softmax", kind: "softmax", left: "M", result: "A" },
    { id: "mix", kind: "product", left: "A", right: "V", result: "O" },
    { id: "concat", kind: "concat", parts: Array.from({ length: heads }, (_, h) => `O${h}`), result: "Z" },
    { id: "out", kind: "product", left: "Z", right: "WO", result: "Y" },
  ]
}
