// How labels stand over columns: the same here as in the files that Python writes.

import assert from "node:assert/strict"
import { test } from "node:test"
import { stackOf, stance } from "../../../../viz/components/shared/upright.js"

test("a label is turned only where it is wider than its room, a single letter never, and Chinese is stacked", () => {
  assert.deepEqual(
    [["·it", 14, 20], ["·squirrel", 52, 20], ["它", 24, 20], ["W", 24, 20], ["·松鼠", 30, 20], ["松鼠", 24, 30], ["松鼠a", 30, 20]].map((one) => stance(...one)),
    ["upright", "turned", "upright", "upright", "stacked", "upright", "turned"],
  )
})

test("letters stand below one another as far as there is room, without the dot of a space", () => {
  assert.deepEqual(stackOf("·松鼠", 4), ["松", "鼠"])
  assert.deepEqual(stackOf("小松鼠想玩", 4), ["小", "松", "鼠", "…"])
})
