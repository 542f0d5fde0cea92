// The drawn chips, and keyboard navigation between them.

import { clamp } from "../shared/numbers.js"
/** @import { State } from "./types" */

export function* chipNodes(state) {
  for (const node of state.box.children) if (node.dataset.chip !== undefined) yield [Number(node.dataset.chip), node]
}

/** @param {State} state */
export function step(state, chip, key) {
  const last = state.meta.labels.length - 1
  const moves = { ArrowLeft: chip - 1, ArrowRight: chip + 1, Home: 0, End: last, Enter: chip, " ": chip }
  if (key in moves) return clamp(moves[key], 0, last)
  if (key === "ArrowUp" || key === "ArrowDown") return chipOnNextLine(state, chip, key === "ArrowDown")
  return null
}

// The chip on the next or previous line with the nearest centre; the chip itself if there is no such line.
function chipOnNextLine(state, chip, down) {
  const boxes = [...chipNodes(state)].map(([index, node]) => ({ index, top: node.offsetTop, x: node.offsetLeft + node.offsetWidth / 2 }))
  const here = boxes.find(({ index }) => index === chip)
  const beyond = boxes.filter(({ top }) => (here && (down ? top > here.top : top < here.top)))
  if (!here || !beyond.length) return chip
  const line = down ? Math.min(...beyond.map(({ top }) => top)) : Math.max(...beyond.map(({ top }) => top))
  const candidates = beyond.filter(({ top }) => top === line)
  return candidates.reduce((best, box) => (Math.abs(box.x - here.x) < Math.abs(best.x - here.x) ? box : best)).index
}
