import assert from "node:assert/strict"
import { test } from "node:test"

import { wordsOfCell } from "../../../../viz/components/head_grid/paint.js"

const SHARES = [0.00004, 0.0001, 0.004, 0.012, 0.42]
const inCells = (letters) => SHARES.map((share) => wordsOfCell(share, { number: "percent" }, (words) => words.length <= letters))

test("where the least share has room each has its digits", () => {
  assert.deepEqual(inCells(5), ["<0.01", "0.01", "0.4", "1.2", "42"])
})

test("where it has none, no cell below one percent reads as less than another that holds less", () => {
  assert.deepEqual(inCells(4), ["<1", "<1", "<1", "1.2", "42"])
})

test("what has no room at all is left out", () => assert.deepEqual(inCells(1), ["", "", "", "1", ""]))
