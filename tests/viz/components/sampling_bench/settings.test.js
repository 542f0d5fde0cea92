// A probability beside its bar: two digits where there is room for them, never 0 % and never ten times a power.

import assert from "node:assert/strict"
import { test } from "node:test"

import { chance } from "../../../../viz/components/sampling_bench/settings.js"

const texts = { percent: "{number} %" }

test("a probability is written short, and what is possible never as nothing", () => {
  const written = [[0, "0 %"], [0.732, "73.2 %"], [1.2e-4, "0.012 %"], [9.94e-9, "1×10⁻⁶ %"], [9.6e-9, "1×10⁻⁶ %"], [3e-12, "3×10⁻¹⁰ %"]]
  for (const [p, words] of written) assert.equal(chance(p, texts), words)
})

test("what is all reads as all from where it does on other pages, and what is less does not", () => {
  assert.deepEqual([0.9994, 0.9998, 0.99991, 1].map((p) => chance(p, texts)), ["99.9 %", "> 99.9 %", "100.0 %", "100.0 %"])
})
