// Numbers and templates as a reader sees them.

import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"

import { fill, formatNumber, formatPlain, formatShort, isolate, shareDigits } from "../../../../viz/components/shared/words.js"

test("a template's names are filled in, one without a value stays as it is written", () => {
  assert.equal(fill("{query} looks {value} at {key}", { query: "·it", value: "91 %" }), "·it looks 91 % at {key}")
  assert.equal(fill(undefined, {}), "")
})

test("what is filled in is not a template again", () => assert.equal(fill("{a}{b}", { a: "{b}", b: "x" }), "{b}x"))

test("percentages have about two digits, and never say 0 of what is something", () => {
  const said = [0, 0.00004, 0.0004, 0.0123, 0.0994, 0.0996, 1].map((value) => formatNumber(value, "percent", {}))
  assert.deepEqual(said, ["0 %", "< 0.01 %", "0.04 %", "1.2 %", "9.9 %", "10 %", "100 %"])
})

test("where there is no room little is less than one percent, not nothing", () => {
  assert.deepEqual([0, 0.00006, 0.0049, 0.006, 0.42].map((value) => formatShort(value, "percent")), ["0", "<1", "<1", "1", "42"])
})

test("other numbers have about three digits and a true minus sign", () => {
  assert.deepEqual([0, 0.5, -0.05, 12.34, 1234, -2e-5, 3e7].map(formatPlain), ["0", "0.50", "−0.050", "12.3", "1234", "−2.0e−5", "3.0e7"])
})

test("what is no number is said in the payload's word", () => {
  assert.equal(formatNumber(NaN, "plain", { undefined: "not defined" }), "not defined")
  assert.equal(formatNumber(Infinity, "plain"), "–")
})

test("a token keeps its direction to itself", () => assert.equal(isolate("שלום"), "\u2068שלום\u2069"))

test("a share is written by the rule that Python has", () => {
  const cases = JSON.parse(readFileSync(new URL("../../shares.json", import.meta.url), "utf8"))
  assert.deepEqual(cases.map(([share]) => [share, shareDigits(share)]), cases)
})

test("where there is little room a part reads as neither all nor nothing", () => {
  assert.deepEqual([0, 0.001, 0.5, 0.996, 1].map((share) => formatShort(share, "percent")), ["0", "<1", "50", ">99", "100"])
})
