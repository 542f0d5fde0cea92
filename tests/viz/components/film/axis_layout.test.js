// Which columns have a name where not all of them have room, and where it stands.

import assert from "node:assert/strict"
import { test } from "node:test"

import { namedColumns } from "../../../../viz/components/film/axis_layout.js"

const AT = { left: 54, cell: 4, width: 358 }

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
  assert.ok(places[0] > AT.left && places[7] <= AT.width)
})

test("what is masked has no name but the new token's", () => {
  assert.deepEqual(namedColumns([Number.NaN, 0.5, Number.NaN], 2, AT).map(([column]) => column), [1, 2])
})
