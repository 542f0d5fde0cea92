// What a page does with a payload of which it has a part already: written by hand, beside the Python that makes them.

import assert from "node:assert/strict"
import { test } from "node:test"

import { whole } from "../../../../viz/components/shared/sent.js"

const lean = (parts, size, ...bytes) => {
  const header = new TextEncoder().encode(JSON.stringify({ ticket: "t", base: "", size, parts }))
  const head = new Uint32Array([0xffffffff, header.length])
  return new Uint8Array([...new Uint8Array(head.buffer), ...header, ...bytes])
}

test("a payload that is not cut comes back as it is", () => {
  const plain = new Uint8Array([4, 0, 0, 0, 1, 2, 3, 4])
  assert.equal(whole(plain), plain)
})

test("a part that was here is put in again, at its place", () => {
  const first = [{ start: 1, stop: 3, id: 1, here: true }]
  assert.deepEqual(whole(lean(first, 4, 9, 5, 6, 8)), new Uint8Array([9, 5, 6, 8]))
  const then = [
    { start: 0, stop: 2, id: 1, here: false },
    { start: 3, stop: 5, id: 2, here: true },
  ]
  assert.deepEqual(whole(lean(then, 6, 7, 1, 2, 3)), new Uint8Array([5, 6, 7, 1, 2, 3]))
})

test("a part that never came is asked for", async () => {
  globalThis.location = /** @type {any} */ ({ href: "http://here/" })
  const asked = []
  globalThis.fetch = /** @type {any} */ (
    async (url, { headers }) => {
      asked.push([String(url), headers["x-atlas-ticket"]])
      return { ok: true, arrayBuffer: async () => new Uint8Array([1, 2]).buffer }
    }
  )
  const missing = lean([{ start: 1, stop: 3, id: 7, here: false }], 4, 0, 3)
  assert.deepEqual(await whole(missing), new Uint8Array([0, 1, 2, 3]))
  assert.deepEqual(asked, [["http://here/maps/array/7", "t"]])
  assert.deepEqual(whole(missing), new Uint8Array([0, 1, 2, 3])) // now it is here
})
