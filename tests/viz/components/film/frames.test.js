// Frames come in chunks: a chunk that follows is added, one that repeats replaces, one with a hole before it is refused.

import assert from "node:assert/strict"
import { test } from "node:test"

import { bytesText, duration, emptyReel, following, keyAt, labelAt, lastFrame, merge, tokensAt } from "../../../../viz/components/film/frames.js"

function chunk(start, labels, { film = "a", view = { heads: [] }, first = start } = {}) {
  const shape = (values, rows) => Object.assign(Float32Array.from(values), { shape: [rows, 1] })
  const columns = labels.map((_, i) => first + i)
  return [
    { film, start, view, prompt: start ? null : { labels: ["p", "q"], units: [["p", 0, false], ["q", 1, false]] }, labels: {}, frames: labels.map((label) => ({ label })), widths: labels.map((_, i) => start + i + 2), cache: { first } },
    { keys: new Int32Array(0), rows: new Float32Array(labels.reduce((sum, _, i) => sum + start + i + 2, 0)), strips: new Uint8Array(0), k: shape(columns, labels.length), v: shape(columns, labels.length) },
  ]
}

test("chunks that follow one another make one film", () => {
  const reel = emptyReel()
  assert.equal(merge(reel, ...chunk(0, ["q", "r"])), "new")
  assert.equal(merge(reel, ...chunk(2, ["s", "t"])), "same")
  assert.equal(lastFrame(reel), 3)
  assert.deepEqual(reel.frames.map((frame) => frame.row.length), [2, 3, 4, 5])
  assert.deepEqual(reel.k.map((column) => column[0]), [0, 1, 2, 3])
})

test("a chunk that goes back replaces what comes after it", () => {
  const reel = emptyReel()
  merge(reel, ...chunk(0, ["q", "r", "s"]))
  assert.equal(merge(reel, ...chunk(1, ["x"])), "same")
  assert.deepEqual(reel.frames.map((frame) => frame.label), ["q", "x"])
  assert.equal(reel.k.length, 2)
})

test("a hole, another film in the middle or another view is a gap, and changes nothing", () => {
  const reel = emptyReel()
  merge(reel, ...chunk(0, ["q", "r"]))
  for (const later of [chunk(3, ["t"]), chunk(2, ["s"], { film: "b" }), chunk(2, ["s"], { view: { heads: [[0, 0]] } }), chunk(2, ["s"], { first: 3 })]) {
    assert.equal(merge(reel, ...later), "gap")
    assert.equal(lastFrame(reel), 1)
  }
})

test("another film from its beginning takes the place of the old one", () => {
  const reel = emptyReel()
  merge(reel, ...chunk(0, ["q", "r"]))
  assert.equal(merge(reel, ...chunk(0, ["q"], { film: "b" })), "new")
  assert.equal(lastFrame(reel), 0)
})

test("a position's label is the prompt's or that of the frame that brought it", () => {
  const reel = emptyReel()
  merge(reel, ...chunk(0, ["q", "r", "s"]))
  assert.deepEqual([0, 1, 2, 3, 4].map((position) => labelAt(reel, position)), ["p", "q", "r", "s", ""])
})

test("of several tokens in a column the one that has its weight is named, with its position; else all of them", () => {
  const reel = emptyReel()
  merge(reel, ...chunk(0, ["q", "r", "s"]))
  const plain = (words) => words.replace(/[\u2068\u2069]/g, "")
  assert.equal(plain(keyAt(reel, { keys: Int32Array.of(1, 2) }, 1)), "r (2)")
  assert.equal(plain(keyAt(reel, { keys: null }, 1)), "q")
  assert.deepEqual([0, 1].map((column) => plain(tokensAt(reel, 2, column, 2))), ["p (0) … q (1)", "r (2)"])
  assert.equal(plain(tokensAt(reel, 1, 2, 2)), "r")
})

test("times and bytes have units that fit them", () => {
  const texts = { seconds: "{number} s", milliseconds: "{number} ms" }
  assert.deepEqual([1.24, 0.034, 0.0041].map((seconds) => duration(seconds, texts)), ["1.2 s", "34 ms", "4.1 ms"])
  assert.deepEqual([12, 24576, 1572864, 524288000].map(bytesText), ["12 B", "24 KB", "1.5 MB", "500 MB"])
})

test("what was not seen yet is not among what may come, and what it had stays in the rest", () => {
  const next = { token: 3, final_rest: 0.1, tokens: [...Array(12).keys(), 3], probabilities: Array(13).fill(0.05), finals: Array(13).fill(0.05), kept: Array(13).fill(true) }
  const [reel, meta] = [{ frames: [{ token: null }, { token: 1 }, next] }, { stop: "" }]
  assert.equal(following({ reel, meta, at: 1, shown: 2 }), next)
  const unseen = following({ reel, meta, at: 1, shown: 1 })
  assert.deepEqual([unseen.token, unseen.tokens.length], [null, 12])
  assert.ok(Math.abs(unseen.final_rest - 0.15) < 1e-9)
  assert.equal(following({ reel, meta, at: 0, shown: 0 }), reel.frames[0])
  assert.equal(following({ reel, meta: { stop: "end", ahead: {} }, at: 2, shown: 2 }), null)
})
