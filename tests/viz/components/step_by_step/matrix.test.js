// The colours of a matrix: the same number has the same colour in every picture whose end is given.

import assert from "node:assert/strict"
import { test } from "node:test"
import { colorOf, largestOf } from "../../../../viz/components/step_by_step/matrix.js"

const theme = { diverging: [[0, 0, 0, 255], [0.5, 255, 255, 255], [1, 255, 0, 0]], sequential: [], masked: [9, 9, 9] }
const paint = (value, matrix) => colorOf(value, matrix, largestOf(matrix), theme)

test("a saturated softmax has a pale gradient: its colours end where those of any gradient do", () => {
  const steep = { unit: "", values: [[0.24, -0.24]], most: 0.25 }
  const flat = { unit: "", values: [[0.0004, -0.0004]], most: 0.25 }
  assert.ok(paint(0.24, steep)[1] < 120)
  assert.ok(paint(0.0004, flat)[1] > 250)
})

test("without an end of its own a matrix ends at its largest number, and what is written ≈0 stays pale", () => {
  assert.equal(largestOf({ unit: "", values: [[3, -Infinity], [-5, 1]] }), 5)
  assert.ok(paint(0.0049, { unit: "", values: [[0.0049]] })[1] > 235)
})
