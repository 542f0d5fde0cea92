// Explain single numbers of a step's result: under the pointer, on click, or with the arrow keys and Enter.

import { closest } from "../shared/dom.js"
import { plainKey } from "../shared/shell.js"
/** @import { State } from "./types" */

const RESULT_CELL = ".result td[data-row]"
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

/** @type {(cell: HTMLElement) => [number, number]} */
const placeIn = (cell) => [Number(cell.dataset.row), Number(cell.dataset.column)]

/** @param {State} state */
export function listenToCells(state) {
  const { stage, act } = state
  /** @type {(event: Event) => [number, number] | null} */
  const cellUnder = (event) => {
    const cell = closest(event, RESULT_CELL)
    return cell && placeIn(cell)
  }
  stage.addEventListener("pointerover", (event) => event.pointerType !== "touch" && !state.playing && act.point(state, cellUnder(event)))
  stage.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && !state.playing && act.point(state, null))
  stage.addEventListener("click", (event) => {
    const at = cellUnder(event)
    if (at) act.choose(state, at)
  })
  stage.addEventListener("keydown", (event) => onCellKey(state, event))
  stage.addEventListener("focusin", (event) => event.target.matches(`${RESULT_CELL}:focus-visible`) && !state.playing && explain(state, event.target))
  stage.addEventListener("focusout", (event) => event.target.matches(RESULT_CELL) && !event.relatedTarget?.matches(RESULT_CELL) && !state.playing && act.point(state, null))
}

function onCellKey(state, event) {
  const cell = event.target
  if (!cell.matches(RESULT_CELL) || !plainKey(event)) return
  const [row, column] = placeIn(cell)
  const step = ARROWS[event.key]
  const chooses = event.key === "Enter" || event.key === " "
  if (chooses && !event.repeat) state.act.choose(state, [row, column]) // a key repeat would uncover the number that it picked
  else if (step) walkTo(state, cell, row + step[0], column + step[1])
  else if (!chooses) return
  event.preventDefault()
}

// Move the focus to the number there, if there is one; the focus explains it.
function walkTo(state, from, row, column) {
  const to = from.closest("table").querySelector(`td[data-row="${row}"][data-column="${column}"]`)
  if (!to) return
  state.act.stop(state)
  for (const other of from.closest("table").querySelectorAll("td[tabindex='0']")) other.tabIndex = -1
  to.tabIndex = 0
  to.focus()
}

function explain(state, cell) {
  state.act.point(state, placeIn(cell))
  state.announce(state.sum.textContent)
}
