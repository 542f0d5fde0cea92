import assert from "node:assert/strict"
import { test } from "node:test"
import { operatorBefore } from "../../../../viz/components/step_by_step/stage.js"

const sign = (step) => operatorBefore(step, 1, 2, {})

test("the sign before scaled scores says all that is done to them, in its order", () => {
  const scale = { id: "scale", kind: "scale", result: "C" }
  assert.equal(sign({ ...scale, factor: 0.25, root: 16 }), "÷ √16 =")
  assert.equal(sign({ ...scale, factor: 0.25, root: 16, softcap: 5 }), "÷ √16, cap 5 =")
  assert.equal(sign({ ...scale, factor: 0.25, root: 16, softcap: 50, bias: [[1]] }), "÷ √16, cap 50, + b =")
  assert.equal(sign({ ...scale, factor: 0.0751, root: null }), "× 0.0751 =")
  assert.equal(sign({ ...scale, factor: 1, root: null }), "=")
  assert.equal(sign({ ...scale, factor: 1, root: null, bias: [[1]] }), "+ b =")
})

test("a product with a bias is not said to be the product alone", () => {
  const told = { id: "q", kind: "told", result: "Q", left: "NQ", right: "WQ" }
  assert.equal(sign(told), "=")
  assert.equal(sign({ ...told, biased: true }), "+ b =")
  assert.equal(sign({ ...told, biased: true, normed: "q_norm" }), "→")
})
