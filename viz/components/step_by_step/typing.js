// Edit numbers by typing, with the arrow keys, or with the slider, which controls the focused number.

import { clamp } from "../shared/numbers.js"
import { plainKey } from "../shared/shell.js"
import { fill } from "../shared/words.js"
import { edited } from "./edits.js"
import { inCell, typed, written } from "./written.js"
/** @import { State } from "./types" */

const STEP = 0.5 // step of the arrow keys
const [REACH, ROW_REACH] = [3, 20] // range of the slider to either side: for small numbers, and for a row of scores

/** @param {State} state */
export function listenToTyping(state) {
  const { stage, slide } = state
  stage.addEventListener("input", (event) => onTyped(state, event.target))
  stage.addEventListener("change", (event) => remember(state, event.target))
  stage.addEventListener("focusin", (event) => showSlide(state, event.target))
  stage.addEventListener("focusout", (event) => leave(state, event.target))
  stage.addEventListener("keydown", (event) => onKey(state, event))
  slide.addEventListener("input", () => state.focused && put(state, state.focused, Number(slide.value)))
}

function put(state, place, value) {
  state.act.editTo(state, edited(state.edits, state.usual, place.matrix, place.row, place.column, value))
}

function onTyped(state, input) {
  const place = placeOf(input)
  const value = typed(input.value, state.meta.most)
  const { texts } = state.meta
  state.problem.textContent = value === null ? fill(texts.not_number, { value: input.value.slice(0, 24), most: written(state.meta.most) }) : ""
  input.setAttribute("aria-invalid", String(value === null))
  put(state, place, value ?? state.before)
}

function placeOf(node) {
  const cell = node.closest("td")
  const { matrix, first } = node.closest("table").dataset
  return { matrix, row: Number(cell.dataset.row), column: Number(first) + Number(cell.dataset.column) }
}

// On blur, show the number that the cell has; invalid text is discarded.
function leave(state, input) {
  if (!input.matches("input")) return
  input.setAttribute("aria-invalid", "false")
  state.problem.textContent = ""
  input.value = inCell(numberAt(state, placeOf(input)))
}

function showSlide(state, input) {
  if (!input.matches("input")) return
  state.act.stop(state)
  state.focused = placeOf(input)
  remember(state, input)
  input.value = written(numberAt(state, state.focused), 6) // in full, since a cell shows a rounded number
  state.slideName.textContent = input.getAttribute("aria-label")
  placeSlide(state)
}

/** @type {(state: State, place: { matrix: string, row: number, column: number }) => number} */
const numberAt = ({ numbers }, { matrix, row, column }) => numbers[matrix][row][column]

// Move the slider to the number, whatever changed it, and extend its range if the number is outside. The range does not
// shrink while the slider itself is dragged.
/** @param {State} state */
export function placeSlide(state) {
  const { slide, slideRow, meta, focused } = state
  slideRow.hidden = !focused
  if (!focused) return
  const value = numberAt(state, focused)
  const drawn = /** @type {ShadowRoot} */ (slide.getRootNode()).activeElement === slide
  const reach = Math.max(meta.usual ? REACH : ROW_REACH, Math.ceil(Math.abs(value)), drawn ? Number(slide.max) : 0)
  Object.assign(slide, { min: -reach, max: reach, value: String(value) })
}

// Show a number that was changed elsewhere, for example by Back, in the focused cell, too.
/** @param {State} state */
export function takeOver(state) {
  const input = state.stage.querySelector("td input:focus")
  if (!input || typed(input.value, state.meta.most) === numberAt(state, placeOf(input))) return
  remember(state, input)
  input.value = written(state.before, 6)
  input.setAttribute("aria-invalid", "false")
  state.problem.textContent = ""
}

// Remember what a cell reverts to: its number when it got the focus, or when Enter was last pressed.
function remember(state, input) {
  if (!input.matches("td input")) return
  state.before = numberAt(state, placeOf(input))
}

function undo(state, input) {
  put(state, placeOf(input), state.before)
  state.problem.textContent = ""
  input.blur()
}

function onKey(state, event) {
  if (event.key === "Escape" && event.target.matches("input")) undo(state, event.target)
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
  if (!step || !plainKey(event) || !event.target.matches("input")) return
  event.preventDefault()
  const place = placeOf(event.target)
  const value = clamp(numberAt(state, place) + step * STEP, -state.meta.most, state.meta.most)
  put(state, place, Number(value.toFixed(6)))
  event.target.value = written(value, 6)
}
