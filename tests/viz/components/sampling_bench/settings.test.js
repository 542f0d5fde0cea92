// A probability beside its bar: two digits where there is room for them, never 0 % and never ten times a power.

import assert from "node:assert/strict"
import { test } from "node:test"

import { chance, isPossible, readSetting, stepOf } from "../../../../viz/components/sampling_bench/settings.js"

const texts = { percent: "{number} %" }

test("a probability is written short, and what is possible never as nothing", () => {
  const written = [[0, "0 %"], [0.732, "73 %"], [1.2e-4, "0.012 %"], [9.94e-9, "1×10⁻⁶ %"], [9.6e-9, "1×10⁻⁶ %"], [3e-12, "3×10⁻¹⁰ %"]]
  for (const [p, words] of written) assert.equal(chance(p, texts), words)
})

test("what is possible and less than a number holds is said to be less than what it can be told from", () => {
  assert.deepEqual([[0, -300], [1e-16, -12], [0.5, -300], [0, null]].map(([p, below]) => chance(p, texts, below)), ["< 10⁻³⁰⁰ %", "< 10⁻¹² %", "50 %", "0 %"])
})

test("what is all reads as all from where it does on other pages, and what is less does not", () => {
  assert.deepEqual([0.9994, 0.9998, 0.99991, 1].map((p) => chance(p, texts)), ["99.9 %", "> 99.9 %", "100 %", "100 %"])
})

test("a value beyond a slider stands at its end, however far it is", () => {
  const steps = [0, 0.5, 1, 1.5, 2]
  for (const far of [2.1, 500, 1e20, 1e99, Number.MAX_VALUE]) assert.equal(stepOf(far, { steps, off: 1 }), 4)
  assert.equal(stepOf(1.1, { steps, off: 1 }), 3) // off is not what is nearly off
  const counts = { steps: [1, 2, 50, 8192, 0], off: 0 }
  assert.equal(stepOf(1e8, counts), 3)
  assert.equal(stepOf(0, counts), 4)
})

test("a count that no address can hold is refused with the rule", () => {
  const top = { label: "top-k", rule: "Top-k is {value}", bounds: { least: 0, most: 1e9, open: "", or_zero: false, whole: true } }
  assert.equal(isPossible(1e9, top.bounds), true)
  assert.deepEqual(readSetting("1e99", top, {}), { problem: "Top-k is 1e99" })
  assert.deepEqual(readSetting("1e3", top, {}), { value: 1000 })
})
