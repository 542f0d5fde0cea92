// The score of two turned vectors: it depends on the difference of the positions alone.

import assert from "node:assert/strict"
import { test } from "node:test"

import { alongDiagonal, byDifference, CELLS, scoreAt, windowScores } from "../../../../viz/components/rotation/shift_scores.js"

function state({ m = 5, n = 2, softcap = null } = {}) {
  const q = Float32Array.of(0.3, -1.2, 0.7, 0.1)
  const k = Float32Array.of(1.1, 0.4, -0.6, 0.9)
  return { m, n, span: 0, ends: [63], meta: { scale: 0.5, rest: 0.25, softcap }, arrays: { q, k, theta: Float32Array.of(1, 0.01) } }
}

// As complex numbers: Re(q · conj(k) · e^{i (m − n) θ}), summed over the pairs.
function expected({ meta, arrays: { q, k, theta } }, difference) {
  let sum = 0
  theta.forEach((angle, i) => {
    const [a, b, c, d] = [q[2 * i], q[2 * i + 1], k[2 * i], k[2 * i + 1]]
    const [real, imaginary] = [a * c + b * d, b * c - a * d]
    sum += real * Math.cos(difference * angle) - imaginary * Math.sin(difference * angle)
  })
  return meta.scale * sum + meta.rest
}

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} ${other}`)

test("a score is that of the difference, wherever the two stand", () => {
  for (const [m, n] of [[0, 0], [5, 2], [2, 5], [4000, 3997]]) near(scoreAt(state(), m, n), expected(state(), m - n))
})

test("the window's cells and the two ways through it are the same scores", () => {
  const at = state()
  const scores = windowScores(at, 3, 10)
  assert.equal(scores.length, CELLS)
  near(scores[7][20], expected(at, 3 + 7 - (10 + 20)))
  for (const [difference, score] of byDifference(at)) near(score, expected(at, difference))
  for (const [, score] of alongDiagonal(at)) near(score, expected(at, 3))
  assert.ok(at.spread < 1e-9)
})

test("a soft-cap bends the sum after the rest was added", () => near(scoreAt(state({ softcap: 2 }), 5, 2), 2 * Math.tanh(expected(state(), 3) / 2)))
