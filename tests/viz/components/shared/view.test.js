// The part of the map one looks at: it never leaves the map, and keeps what is under the pointer where it is.

import assert from "node:assert/strict"
import { test } from "node:test"

import {
  CLOSEST, isWhole, panned, viewOf, viewWith, wholeView, windowOf, zoomed,
} from "../../../../viz/components/shared/view.js"

const total = [40, 100]

const inside = (view, [queries, keys]) =>
  view.q0 >= 0 && view.k0 >= 0 && view.q1 <= queries + 1e-9 && view.k1 <= keys + 1e-9 && view.q1 > view.q0 && view.k1 > view.k0

test("zooming keeps the point under the pointer", () => {
  const before = viewOf([10, 30, 20, 70])
  for (const factor of [0.8, 1 / 1.5, 1.3]) {
    const after = zoomed(before, total, factor, 17, 31)
    const share = (at, start, end) => (at - start) / (end - start)
    assert.ok(Math.abs(share(17, after.q0, after.q1) - share(17, 10, 30)) < 1e-9)
    assert.ok(Math.abs(share(31, after.k0, after.k1) - share(31, 20, 70)) < 1e-9)
  }
})

test("the view never leaves the map, however one zooms and pans", () => {
  let view = wholeView(total)
  let seed = 1
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647
  for (let i = 0; i < 2000; i++) {
    view = random() < 0.5 ? zoomed(view, total, 0.4 + 2 * random(), random() * 40, random() * 100) : panned(view, total, 80 * random() - 40, 200 * random() - 100)
    assert.ok(inside(view, total), JSON.stringify(view))
    assert.ok(view.q1 - view.q0 >= CLOSEST - 1e-9 && view.k1 - view.k0 >= CLOSEST - 1e-9)
  }
})

test("a map smaller than the closest view stays whole", () => {
  const view = zoomed(wholeView([3, 4]), [3, 4], 0.1, 1, 1)
  assert.ok(isWhole(view, [3, 4]))
})

test("zooming out of everything shows the whole", () => assert.ok(isWhole(zoomed(viewOf([3, 13, 5, 15]), total, 1e3, 8, 8), total)))

test("the window asked for is of whole units, inside the map, and square where the view is", () => {
  const window = windowOf({ q0: 3.6, q1: 13.6, k0: 89.8, k1: 99.8 }, total)
  assert.deepEqual(window, [4, 14, 90, 100])
  assert.deepEqual(windowOf(wholeView(total), total), [0, 40, 0, 100])
})

test("a cell out of sight takes the view along, one unit from its edge; one in sight leaves it", () => {
  const view = viewOf([10, 20, 10, 20])
  assert.deepEqual(viewWith(view, total, 15, 15), view)
  assert.deepEqual(viewWith(view, total, 25, 15), viewOf([17, 27, 10, 20]))
  assert.deepEqual(viewWith(view, total, 5, null), viewOf([4, 14, 10, 20]))
  assert.deepEqual(viewWith(view, total, 0, 99), viewOf([0, 10, 90, 100]))
})
