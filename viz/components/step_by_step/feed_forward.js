// Compute a feed-forward part on a few small numbers; attention/small_feed_forward.py does the same in torch.

import { matrix, named, numbered, times } from "./arithmetic.js"
/** @import { DrawnChain, FeedForwardNumbers, DrawnMatrix, StepSettings, DrawnStep } from "./types" */

const SQRT_HALF = Math.SQRT1_2

/** @type {Record<string, (x: number) => number>} */
export const ACTIVATIONS = {
  ReLU: (x) => Math.max(0, x),
  SiLU: (x) => x * sigmoid(x),
  GELU: (x) => x * normal(x),
}

/** @type {(x: number) => number} */
export const sigmoid = (x) => 1 / (1 + Math.exp(-x))

// Φ, computed with the series of erf near 0 and the continued fraction of erfc elsewhere (Abramowitz & Stegun 7.1.5,
// 7.1.14).
/** @type {(x: number) => number} */
export function normal(x) {
  const z = Math.abs(x) * SQRT_HALF
  const below = z < 2.5 ? (1 - series(z)) / 2 : fraction(z) / 2
  return x < 0 ? below : 1 - below
}

function series(z) {
  let [term, sum] = [z, z]
  for (let n = 1; n < 60; n++) {
    term *= (-z * z) / n
    sum += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * sum
}

function fraction(z) {
  let below = z
  for (let n = 60; n > 0; n--) below = z + n / 2 / below
  return Math.exp(-z * z) / (Math.sqrt(Math.PI) * below)
}

/** @type {(numbers: FeedForwardNumbers, settings: StepSettings) => DrawnChain} */
export function feedForwardChain(numbers, { activation = "ReLU", gated = false }) {
  const { X, WG, W1, B1, W2, B2 } = numbers
  const [tokens, units, dims] = [named("x", X.length), numbered(B1[0].length), numbered(X[0].length)]
  const of = (letter) => named(letter, X.length)
  const G = times(X, WG)
  const P = times(X, W1)
  const H = P.map((row) => row.map((value, j) => value + B1[0][j]))
  const A = (gated ? G : H).map((row) => row.map(ACTIVATIONS[activation]))
  const M = gated ? A.map((row, i) => row.map((value, j) => value * H[i][j])) : A
  const S = times(M, W2)
  const Y = S.map((row) => row.map((value, j) => value + B2[0][j]))
  /** @type {Record<string, DrawnMatrix>} */
  const matrices = {
    X: matrix("X", X, tokens, dims),
    ...(gated ? { WG: matrix("W_gate", WG, dims, units), G: matrix("G", G, of("g"), units) } : {}),
    W1: matrix("W₁", W1, dims, units), P: matrix("X W₁", P, of("p"), units), B1: matrix("b₁", B1, ["b₁"], units),
    H: matrix("H", H, of("h"), units), A: matrix("A", A, of("a"), units),
    ...(gated ? { M: matrix("A ⊙ H", M, of("m"), units) } : {}),
    W2: matrix("W₂", W2, units, dims), S: matrix(gated ? "M W₂" : "A W₂", S, of("s"), dims), B2: matrix("b₂", B2, ["b₂"], dims),
    Y: matrix("Y", Y, of("y"), dims),
  }
  return { matrices, steps: stepsOfPart(activation, gated) }
}

/** @type {(activation: string, gated: boolean) => DrawnStep[]} */
function stepsOfPart(activation, gated) {
  const act = { id: "ffn_act", kind: "apply", left: gated ? "G" : "H", result: "A", activation, short: activation }
  const first = [
    { id: "ffn_first", kind: "product", left: "X", right: "W1", result: "P", short: "X W₁" },
    { id: "ffn_bias", kind: "add", left: "P", right: "B1", result: "H", short: "+ b₁" },
  ]
  return [
    { id: "ffn_x", kind: "given", result: "X", short: "X" },
    ...(gated ? [{ id: "ffn_gate", kind: "product", left: "X", right: "WG", result: "G", short: "X W_gate" }, act, ...first] : [...first, act]),
    ...(gated ? [{ id: "ffn_times", kind: "times", left: "A", right: "H", result: "M", short: "A ⊙ H" }] : []),
    { id: "ffn_second", kind: "product", left: gated ? "M" : "A", right: "W2", result: "S", short: "· W₂" },
    { id: "ffn_out", kind: "add", left: "S", right: "B2", result: "Y", short: "+ b₂" },
  ]
}
