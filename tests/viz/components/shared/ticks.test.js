// Labels and ticks: none touches its neighbour, and as many as fit are there.

import assert from "node:assert/strict"
import { test } from "node:test"

import { extent, padded } from "../../../../viz/components/shared/numbers.js"
import { roundTicks, stepOf, thinning } from "../../../../viz/components/shared/ticks.js"

const rooms = [5, 12, 34, 44]
const pitches = [46, 13, 7.5, 3, 1, 0.4, 0.013]

for (const [name, step] of [["tokens", stepOf], ["heads", thinning]]) {
  test(`labels of ${name} have their room`, () => {
    for (const room of rooms) for (const pitch of pitches.filter((one) => room / one <= 32)) assert.ok(step(room, pitch) * pitch >= room)
  })
  test(`where every label of ${name} fits, every one is drawn`, () => assert.equal(step(12, 12), 1))
}

test("every 1st, 2nd, 5th, 10th … token is labelled, and no step smaller than that would do", () => {
  assert.deepEqual([12, 6, 5, 2.4, 1.3, 1.2, 0.6, 0.012].map((pitch) => stepOf(12, pitch)), [1, 2, 5, 5, 10, 10, 20, 1000])
})

test("ticks are round, inside, evenly spaced and not more than asked for", () => {
  for (const [low, high] of [[0, 1], [-3.2, 7.9], [0.001, 0.0042], [-1e6, 2], [17, 18]]) {
    for (const most of [3, 4, 6, 8]) {
      const ticks = roundTicks(low, high, most)
      assert.ok(ticks.length >= 1 && ticks.length <= most + 1, `${ticks}`)
      assert.ok(ticks.every((tick) => tick >= low - 1e-9 * (high - low) && tick <= high + 1e-9 * (high - low)))
      const steps = ticks.slice(1).map((tick, i) => tick - ticks[i])
      for (const step of steps) assert.ok(Math.abs(step - steps[0]) < 1e-9 * (high - low))
      if (steps.length) assert.match(Math.abs(steps[0]).toExponential(6), /^[125]\.000000e/)
    }
  }
})

test("a span of nothing has one tick", () => assert.deepEqual(roundTicks(2, 2, 5), [2]))

test("the extent leaves out what is no number, and is padded on both sides", () => {
  assert.deepEqual(extent([3, NaN, -1]), [-1, 3])
  assert.deepEqual(extent([]), [0, 0])
  assert.deepEqual(padded([0, 10], 0.1), [-1, 11])
  assert.deepEqual(padded([5, 5]), [4.5, 5.5])
  assert.deepEqual(padded([0, 0]), [-1, 1])
})
