// Whose choice is drawn, the user's or the host's: of what one click asks and several runs answer, in whatever order.

import assert from "node:assert/strict"
import { mock, test } from "node:test"

import { chosen, forget, reconcile } from "../../../../viz/components/shared/choice.js"

// A component that remembers what it was last told and what it would draw.
function component(first) {
  mock.timers.reset()
  mock.timers.enable({ apis: ["setTimeout"] })
  let now = 0
  performance.now = () => now
  const state = {}
  const hear = (said) => {
    state.again = () => (state.drawn = reconcile(state, "head", said)) // made anew with the data, as in shell.js
    return state.again()
  }
  const click = (value) => {
    state.drawn = value
    chosen(state, "head", value)
  }
  const wait = (milliseconds) => {
    now += milliseconds
    mock.timers.tick(milliseconds)
  }
  hear(first)
  return { state, hear, click, wait }
}

test("what the host says first is drawn, and what it says later while the user chooses nothing", () => {
  const { state, hear } = component([0, 1])
  assert.deepEqual(state.drawn, [0, 1])
  assert.deepEqual(hear([2, 3]), [2, 3])
  assert.equal(hear(null), null)
})

test("answers to earlier clicks do not undo the last one", () => {
  const { hear, click } = component(0)
  click(1)
  click(2)
  assert.equal(hear(0), 2)
  assert.equal(hear(1), 2)
  assert.equal(hear(2), 2)
})

test("once the last click is confirmed, the host is believed at once", () => {
  const { hear, click } = component(0)
  click(1)
  hear(1)
  assert.equal(hear(3), 3)
})

test("a host that goes on disagreeing is believed in the end, without being asked", () => {
  const { state, hear, click, wait } = component(0)
  click(1)
  assert.equal(hear(5), 1)
  wait(2900)
  assert.equal(state.drawn, 1)
  wait(200)
  assert.equal(state.drawn, 5)
})

test("a click while another answer is held back counts from its own time", () => {
  const { state, hear, click, wait } = component(0)
  click(1)
  hear(5)
  wait(2500)
  click(2)
  wait(1000)
  assert.equal(state.drawn, 2)
  assert.equal(hear(2), 2)
})

test("what was held back is not brought up again after what the host has said since", () => {
  const { state, hear, click, wait } = component(1)
  click(2)
  click(3)
  hear(2)
  hear(3)
  wait(2500)
  click(4)
  assert.equal(hear(4), 4)
  wait(10_000)
  assert.equal(state.drawn, 4)
})

test("a choice survives data that repeat what was said before it", () => {
  const { hear, click, wait } = component(0)
  click(1)
  assert.equal(hear(0), 1)
  wait(10_000)
  assert.equal(hear(0), 1)
})

test("of another text the user has chosen nothing yet", () => {
  const { state, hear, click } = component(0)
  click(1)
  forget(state, "head")
  assert.equal(hear(0), 0)
})
