// Which tiles show what, float16, and what a search finds: the numbers of analysis/long_map.py as the browser has them.

import assert from "node:assert/strict"
import { test } from "node:test"

import { colorTable, halves } from "../../../../viz/components/long_map/half.js"
import {
  above, cellsAt, lastZoom, pixelAt, SIDE, tilesIn, tokensOf, viewAround, zoomFor,
} from "../../../../viz/components/long_map/pyramid.js"
import { find, indexed, nextOf } from "../../../../viz/components/long_map/search.js"

test("every half is the number that a DataView reads", () => {
  const table = halves()
  for (const [bits, value] of [[0, 0], [0x3c00, 1], [0xc000, -2], [1, 2 ** -24], [0x03ff, 1023 * 2 ** -24], [0x0400, 2 ** -14], [0x7bff, 65504], [0x7c00, Infinity]]) {
    assert.equal(table[bits], value)
  }
  assert.ok(Number.isNaN(table[0x7e00]) && Number.isNaN(table[0xfe00]))
  for (let bits = 1; bits < 0x7c00; bits++) assert.ok(table[bits] > table[bits - 1])
})

test("a colour for every half: masked where it is no number", () => {
  const words = colorTable(Uint32Array.from({ length: 256 }, (_, i) => i), 999, (value) => Math.min(1, Math.max(0, value)))
  assert.deepEqual([words[0], words[0x3c00], words[0x3800], words[0x7e00]], [0, 255, 128, 999])
})

test("the last zoom is the first whose pixels are cells", () => {
  assert.deepEqual([1, 256, 257, 512, 513, 8192, 32768].map(lastZoom), [0, 0, 1, 1, 2, 5, 7])
  assert.deepEqual([0, 1, 2].map((zoom) => cellsAt(600, zoom)), [4, 2, 1])
})

test("no pixel that is drawn is smaller than one of the screen, unless cells are", () => {
  for (const tokens of [300, 1537, 8192]) {
    for (let perPixel = 1 / 40; perPixel < 40; perPixel *= 1.3) {
      const zoom = zoomFor(tokens, perPixel)
      const cells = cellsAt(tokens, zoom)
      assert.ok(cells >= perPixel || zoom === 0)
      if (zoom < lastZoom(tokens)) assert.ok(cells / 2 < perPixel)
    }
  }
})

test("the tiles of a view cover it, those in its middle first, and leave out the empty half of a causal map", () => {
  const view = { q0: 700, q1: 1400, k0: 100, k1: 800 }
  const tiles = tilesIn(view, 4000, lastZoom(4000), false)
  assert.equal(tiles.length, 4 * 4)
  for (let query = 700; query < 1400; query += 13) {
    for (let key = 100; key < 800; key += 13) {
      assert.ok(tiles.some((tile) => {
        const { q0, k0, span } = tokensOf(4000, tile)
        return query >= q0 && query < q0 + span && key >= k0 && key < k0 + span
      }))
    }
  }
  assert.ok(tiles[0].x >= 1 && tiles[0].x <= 2 && tiles[0].y >= 3 && tiles[0].y <= 4)
  const causal = tilesIn(view, 4000, lastZoom(4000), true)
  assert.ok(causal.length < tiles.length)
  assert.ok(causal.every(({ x, y }) => x <= y))
})

test("a part of a tile farther away shows the same tokens", () => {
  const tile = { zoom: 5, x: 13, y: 27 }
  for (let by = 0; by <= 5; by++) {
    const part = above(tile, by)
    const [whole, inner] = [tokensOf(8192, part.tile), tokensOf(8192, tile)]
    const cells = cellsAt(8192, part.tile.zoom)
    assert.deepEqual([whole.k0 + part.left * cells, whole.q0 + part.top * cells, part.side * cells], [inner.k0, inner.q0, inner.span])
  }
})

test("a cell is found in the tile that holds it", () => {
  for (let zoom = 0; zoom <= 5; zoom++) {
    const { tile, row, column } = pixelAt(8192, zoom, 5000, 123)
    const [{ q0, k0 }, cells] = [tokensOf(8192, tile), cellsAt(8192, zoom)]
    assert.ok(row < SIDE && column < SIDE)
    assert.equal(q0 + row * cells, Math.floor(5000 / cells) * cells)
    assert.equal(k0 + column * cells, Math.floor(123 / cells) * cells)
  }
})

test("a jump ends in a square view inside the text that shows the cell", () => {
  for (const [query, key] of [[0, 0], [999, 0], [999, 999], [500, 20]]) {
    const { q0, q1, k0, k1 } = viewAround(1000, query, key, 32)
    assert.deepEqual([q1 - q0, k1 - k0], [32, 32])
    assert.ok(q0 >= 0 && q1 <= 1000 && k0 >= 0 && k1 <= 1000)
    assert.ok(query >= q0 && query < q1 && key >= k0 && key < k1)
  }
  assert.deepEqual(viewAround(5, 2, 2, 32), { q0: 0, q1: 5, k0: 0, k1: 5 })
})

test("a word of several tokens is found by its last one, whatever its case", () => {
  const index = indexed(["<s>", "The", "·R", "abbit", "·and", "·the", "·ra", "bbit", ".", "⏎", "İ"])
  assert.deepEqual(find(index, "rabbit"), [3, 7])
  assert.deepEqual(find(index, "the r"), [2, 6])
  assert.deepEqual(find(index, "the"), [1, 5])
  assert.deepEqual(find(index, "nothing"), [])
  for (const nothing of ["", "  "]) assert.deepEqual(find(index, nothing), [])
})

test("the next place and the one before go around the end", () => {
  assert.deepEqual([nextOf([3, 7], -1, true), nextOf([3, 7], 3, true), nextOf([3, 7], 7, true)], [3, 7, 3])
  assert.deepEqual([nextOf([3, 7], 7, false), nextOf([3, 7], 3, false), nextOf([], 3, true)], [3, 7, null])
})
