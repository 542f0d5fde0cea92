// Hiding cells by hand: a stroke hides the cells it passes, or shows them again if it begins on a hidden cell.

import { chosen } from "../shared/choice.js"
import { later, tell } from "../shared/shell.js"
import { cellAt, isFuture } from "./layout.js"
/** @import { State } from "./types" */

const cellsOf = (hidden) => [...hidden].map((cell) => cell.split(",").map(Number))

export function beginStroke(state, event) {
  const cell = cellAt(state, event)
  if (!state.pencilOn || !cell || event.button) return
  state.canvas.setPointerCapture(event.pointerId)
  state.stroke = { hides: !state.hidden.has(String(cell)) }
  paintCell(state, cell)
  event.preventDefault()
}

/** @param {State} state */
export function paintCell(state, cell) {
  const { hidden, stroke, meta, reached, n } = state
  const visible = !isFuture(state, cell[0], cell[1]) || reached[cell[0] * n + cell[1]] === 1
  if (!stroke.hides) hidden.delete(String(cell))
  else if (visible && hidden.size < meta.most_hidden) hidden.add(String(cell))
  later(state)
}

export function endStroke(state) {
  if (!state.stroke) return
  state.stroke = null
  setHidden(state, cellsOf(state.hidden))
}

export function toggle(state, cell) {
  state.stroke = { hides: !state.hidden.has(String(cell)) }
  paintCell(state, cell)
  endStroke(state)
}

export function setHidden(state, cells) {
  state.hidden = new Set(cells.map(String))
  chosen(state, "hidden", cells)
  tell(state, "hidden", cells)
  later(state)
}
