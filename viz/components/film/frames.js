// The film's frames, in chunks. Each frame has its numbers, its attention row and the row of every head.

import { fill, isolate, wholeNumber } from "../shared/words.js"

export const emptyReel = () => ({ film: null, view: "", frames: [], prompt: null, k: [], v: [], labels: {}, version: 0 })

// Add a chunk. "new": another film; "same": the film went on or its picture changed; "gap": something is missing.
export function merge(reel, meta, arrays) {
  const view = JSON.stringify(meta.view)
  const other = meta.film !== reel.film
  if (meta.start > 0 && (other || view !== reel.view || meta.start > reel.frames.length || meta.cache.first > reel.k.length)) {
    return "gap"
  }
  if (meta.start === 0) Object.assign(reel, emptyReel(), { prompt: meta.prompt, version: reel.version })
  Object.assign(reel, { film: meta.film, view, version: reel.version + 1 })
  Object.assign(reel.labels, meta.labels)
  reel.frames.length = meta.start
  let [row, strip] = [0, 0]
  const nHeads = meta.view.heads.length
  meta.frames.forEach((frame, i) => {
    const width = meta.widths[i]
    reel.frames.push({
      ...frame,
      row: arrays.rows.subarray(row, row + width),
      keys: arrays.keys.length ? arrays.keys.subarray(row, row + width) : null,
      strip: nHeads ? arrays.strips.subarray(strip, strip + nHeads * width) : null,
    })
    row += width
    strip += nHeads * width
  })
  for (const name of ["k", "v"]) {
    const [count, depth] = arrays[name].shape
    reel[name].length = meta.cache.first
    for (let i = 0; i < count; i++) reel[name].push(arrays[name].subarray(i * depth, (i + 1) * depth))
  }
  return other ? "new" : "same"
}

export const lastFrame = (reel) => reel.frames.length - 1

const LISTED = 12 // candidates of a frame, CANDIDATES in analysis/film.py; a chosen token that is not among them comes after

// What comes after this frame and how it was chosen; or, if the user has not seen that yet, what may come; null if
// nothing comes or nothing is known.
export function following({ reel, meta, at, shown }) {
  if (at < shown) return reel.frames[at + 1]
  if (at < lastFrame(reel)) return at ? unchosen(reel.frames[at + 1]) : reel.frames[0]
  return meta.stop === "end" ? null : (meta.ahead ?? (at ? null : reel.frames[0]))
}

function unchosen(frame) {
  const cut = (name) => frame[name].slice(0, LISTED)
  const rest = frame.finals.slice(LISTED).reduce((sum, share) => sum + share, frame.final_rest)
  return { ...frame, token: null, final_rest: rest, tokens: cut("tokens"), probabilities: cut("probabilities"), finals: cut("finals"), kept: cut("kept") }
}

// Display label of the token at a position: a prompt token, or one generated with a frame.
export function labelAt(reel, position) {
  const n = reel.prompt.labels.length
  return position < n ? reel.prompt.labels[position] : (reel.frames[position - n + 1]?.label ?? "")
}

// The token that a column of a frame's row stands for; if that may be any of several, with its position.
export function keyAt(reel, { keys }, column) {
  const label = isolate(labelAt(reel, keys ? keys[column] : column))
  return keys ? `${label} (${keys[column]})` : label
}

// The tokens of a column.
export function tokensAt(reel, bin, column, last) {
  const ends = [column * bin, Math.min(column * bin + bin - 1, last)]
  const names = ends.map((at) => isolate(labelAt(reel, at)) + (bin > 1 ? ` (${at})` : ""))
  return ends[0] === ends[1] ? names[0] : names.join(" … ")
}

// "34 ms", "1.2 s"
export function duration(seconds, texts) {
  if (seconds >= 1) return fill(texts.seconds, { number: seconds.toFixed(1) })
  const ms = seconds * 1000
  return fill(texts.milliseconds, { number: ms.toFixed(ms < 10 ? 1 : 0) })
}

// Bytes formatted as in model_runner/memory.py, in powers of 1024: "24 KB", "1.5 MB"
export function bytesText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"]
  let unit = 0
  while (bytes >= 1023.5 && unit < units.length - 1) [bytes, unit] = [bytes / 1024, unit + 1]
  return `${bytes < 999.5 ? Number(bytes.toPrecision(3)) : wholeNumber(Math.round(bytes))} ${units[unit]}`
}
