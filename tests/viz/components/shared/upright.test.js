// How labels stand over columns: the same here as in the files that Python writes.

import assert from "node:assert/strict"
import { test } from "node:test"
import { stackOf, stance, stances } from "../../../../viz/components/shared/upright.js"

test("a label is turned only where it is wider than its room, a single letter never, and Chinese is stacked", () => {
  assert.deepEqual(
    [["·it", 14, 20], ["·squirrel", 52, 20], ["它", 24, 20], ["W", 24, 20], ["·松鼠", 30, 20], ["松鼠", 24, 30], ["松鼠a", 30, 20]].map((one) => stance(...one)),
    ["upright", "turned", "upright", "upright", "stacked", "upright", "turned"],
  )
})

test("a label wider than its column stands upright between short ones, and where two would meet all are turned alike", () => {
  assert.deepEqual(stances(["·is", "·behind", "·the", "."], [15, 46, 24, 4], 40), ["upright", "upright", "upright", "upright"])
  assert.deepEqual(stances(["·is", "·behind", "·the", "."], [15, 46, 24, 4], 30), ["turned", "turned", "turned", "upright"])
  assert.deepEqual(stances(["⟨bos⟩", "猫", "看见"], [34, 12, 24], 20), ["turned", "upright", "stacked"])
  assert.deepEqual(stances(["它", "看见", "了"], [12, 36, 12], 14), ["upright", "stacked", "upright"])
})

test("the last label reaches no farther beyond its column than the figure has room", () => {
  assert.deepEqual(stances(["a", "·end"], [8, 42], 40), ["upright", "upright"])
  assert.deepEqual(stances(["a", "·ending"], [8, 43], 40), ["upright", "turned"])
})

test("letters stand below one another as far as there is room, without the dot of a space", () => {
  assert.deepEqual(stackOf("·松鼠", 4), ["松", "鼠"])
  assert.deepEqual(stackOf("小松鼠想玩", 4), ["小", "松", "鼠", "…"])
})
