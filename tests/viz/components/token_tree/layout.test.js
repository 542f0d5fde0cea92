// The payload as a tree of nodes.

import assert from "node:assert/strict"
import { test } from "node:test"

import { nodesOf, runFrom } from "../../../../viz/components/token_tree/layout.js"

const state = {
  meta: { ids: ["", "0", "0.1", "0.1.2", "3"], labels: ["p", "a", "b", "c", "d"], chosen: [null, "greedy", "sampled", "forced", "beam"], names: { 3: ["1"] } },
  arrays: {
    parents: [-1, 0, 1, 2, 0], rows: [0.5, 0, 0, 0, 1], log_probs: [0, -1, -2, -3, -4], totals: [0, -1, -3, -6, -4],
    dropped: [0, 0, 0, 0, 1], ended: [0, 0, 0, 1, 0],
  },
}

test("nodes know their parent, their children and how far from the prompt they are", () => {
  const [prompt, a, b, c, d] = nodesOf(state)
  assert.equal(prompt.parent, null)
  assert.deepEqual(prompt.children, [a, d])
  assert.deepEqual([prompt, a, b, c, d].map((node) => node.depth), [0, 1, 2, 3, 1])
  assert.equal(c.parent, b)
  assert.deepEqual(c.names, ["1"])
  assert.ok(c.ended && d.dropped && !a.dropped)
})

test("a run goes on until there is a choice, or an end", () => {
  const [prompt, a, b, c] = nodesOf(state)
  assert.deepEqual(runFrom(prompt), [prompt])
  assert.deepEqual(runFrom(a), [a, b, c])
})
