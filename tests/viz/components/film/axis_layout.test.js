// Every token has one column: chips stand over theirs where they fit, and where they do not, which columns have a name.

import assert from "node:assert/strict"
import { test } from "node:test"
import { axisLayout, namedColumns, place, rowBox } from "../../../../viz/components/film/axis_layout.js"

const measure = (text, size) => 0.5 * size * text.length
const HEADS = [[0, null], [1, 0], [1, 1], [2, null]]

function shown(labels, { bin = 1, heads = HEADS, units = null } = {}) {
  const prompt = { labels, units: units ?? labels.map((label, i) => [label, i, false]) }
  return { shown: 0, meta: { view: { bin, heads, head: [1, 0] } }, reel: { prompt, frames: [{}], k: [new Float32Array(32)], v: [new Float32Array(32)] } }
}

test("chips are as wide as their words, and each column as its chip", () => {
  const layout = axisLayout(shown(["a", "squirrel", "it"]), 800, measure)
  assert.equal(layout.mode, "chips")
  assert.deepEqual(layout.left, layout.chips.map(([left]) => left))
  assert.deepEqual(layout.wide, layout.chips.map(([, wide]) => wide))
  assert.ok(layout.wide[1] > layout.wide[2])
})

test("the bytes of a character share its chip", () => {
  const layout = axisLayout(shown(["e9", "be", "98", "it"], { units: [["龘", 0, false], ["it", 3, false]] }), 800, measure)
  const [[left, wide]] = layout.chips
  assert.equal(layout.left.length, 4)
  assert.ok(layout.left[0] === left && layout.left[2] + layout.wide[2] <= left + wide)
})

test("chips that do not fit have smaller letters, then columns alike, then names for some of them", () => {
  const words = (count) => Array(count).fill("words")
  assert.deepEqual([8, 12].map((count) => axisLayout(shown(words(count)), 660, measure).size), [15, 13])
  assert.deepEqual([40, 90].map((count) => axisLayout(shown(words(count)), 660, measure).mode), ["words", "named"])
  for (const count of [8, 40, 90, 160]) {
    const { left, wide } = axisLayout(shown(words(count)), 660, measure)
    assert.equal(left.length, count)
    assert.ok(left.at(-1) + wide.at(-1) <= 660)
  }
})

test("columns of several tokens are as few as the tokens need", () => {
  assert.equal(axisLayout(shown(Array(321).fill("w"), { bin: 3 }), 660, measure).columns, 107)
})

test("a row a layer, of the open one a row a head, and a point knows which it is in", () => {
  const layout = axisLayout(shown(["a", "b"]), 800, measure)
  const rows = HEADS.map((_, row) => rowBox(layout, row))
  rows.slice(1).forEach(({ y }, i) => assert.ok(y >= rows[i].y + rows[i].height))
  rows.forEach(({ y, height }, row) => assert.deepEqual(place({ layout }, layout.left[1] + 3, y + height / 2), { part: "strip", column: 1, row }))
  const { y, height } = layout.cache.v
  assert.equal(place({ layout }, layout.left[0], y + height / 2).part, "v")
  assert.equal(place({ layout }, layout.left[1] + layout.wide[1] + 50, y), null)
})

const cell = 4
const AT = { left: Array.from({ length: 80 }, (_, i) => 54 + i * cell), wide: Array(80).fill(cell), width: 358 }

test("the new token and those that are looked at most are named, neighbours too", () => {
  const row = new Float32Array(40)
  Object.assign(row, { 10: 0.3, 11: 0.2, 12: 0.1, 30: 0.25, 39: 0.01 })
  const named = namedColumns(row, 39, AT)
  assert.deepEqual(named.map(([column]) => column), [10, 11, 12, 30, 39])
  assert.deepEqual(named.filter(([column]) => column === 10 || column === 30).map(([, x]) => x), [96, 176])
})

test("names stand apart, none beyond the edge, and are few", () => {
  const row = Float32Array.from({ length: 74 }, (_, i) => (i > 60 ? 0.05 + i / 1000 : 0))
  const named = namedColumns(row, 73, AT)
  assert.equal(named.length, 8)
  const places = named.map(([, x]) => x)
  places.slice(1).forEach((x, i) => assert.ok(x - places[i] >= 14))
  assert.ok(places[0] > AT.left[0] && places[7] <= AT.width)
})

test("what is masked has no name but the new token's", () => {
  assert.deepEqual(namedColumns([Number.NaN, 0.5, Number.NaN], 2, AT).map(([column]) => column), [1, 2])
})
