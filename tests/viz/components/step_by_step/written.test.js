// Numbers as they are written and typed: nothing shown says another number than it is, within its digits.

import assert from "node:assert/strict"
import { test } from "node:test"

import { edited, withEdits } from "../../../../viz/components/step_by_step/edits.js"
import { bracketed, decimalsInCell, equals, inCell, summed, typed, written } from "../../../../viz/components/step_by_step/written.js"

test("few digits, no zeros at the end, a true minus", () => {
  assert.deepEqual([0.5, -1, 10, 100, 0.126, 1234.5].map((value) => written(value)), ["0.5", "−1", "10", "100", "0.13", "1235"])
  assert.deepEqual([-0.0001, 123456, -Infinity, Number.NaN].map((value) => written(value)), ["−1·10⁻⁴", "1.2·10⁵", "−∞", "NaN"])
  assert.deepEqual([9.99, 12.34, 123.4, 0, -3e-10].map(inCell), ["9.99", "12.3", "123", "0", "≈0"])
  assert.deepEqual([9.994, -9.996, 99.96, 0, 123456].map(inCell), ["9.99", "−10", "100", "0", "1.2·10⁵"])
  assert.deepEqual([9.994, -9.996, 99.96, 0, 123456].map(decimalsInCell), [2, 1, 0, 2, -4])
})

test("a sum has its signs between its terms", () => {
  assert.equal(summed([0.5, -0.25, 3, 0]), "0.5 − 0.25 + 3 + 0")
  assert.equal(summed([-1]), "−1")
  assert.equal(bracketed(-1.5), "(−1.5)")
})

test("equals says whether digits were left out", () => {
  assert.equal(equals([0.5, -1.125]), "=")
  assert.equal(equals([1 / 3]), "≈")
})

test("what is typed is a number of usual size, or nothing", () => {
  assert.deepEqual(["1.5", " −2 ", "-0,5", "1e2", "1000"].map((text) => typed(text, 1000)), [1.5, -2, -0.5, 100, 1000])
  for (const text of ["", " ", "NaN", "Infinity", "-inf", "1e308", "1001", "x", "1 2", "1,000.5", "9".repeat(30)]) assert.equal(typed(text, 1000), null, text)
})

test("edits go into the numbers and back, and those of other sizes are kept", () => {
  const usual = { X: [[1, 2]], WQ: [[0, 0], [0, 0]], WK: [[0]], WV: [[0]], WO: [[0]] }
  assert.deepEqual(withEdits(usual, "X01_-1.5~Q10_2~X77_3~nonsense").X, [[1, -1.5]])
  assert.equal(withEdits(usual, "Q10_2").WQ[1][0], 2)
  assert.deepEqual(usual.X, [[1, 2]])
  const once = edited("X77_3", usual, "X", 0, 1, -1.5)
  assert.equal(once, "X01_-1.5~X77_3")
  assert.equal(edited(once, usual, "X", 0, 1, 2), "X77_3") // as it was
  assert.equal(edited(once, usual, "WQ", 1, 0, 1e-7), "Q10_1e-7~X01_-1.5~X77_3")
  assert.equal(withEdits(usual, "Q10_1e-7").WQ[1][0], 1e-7)
})
