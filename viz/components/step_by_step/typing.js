// Numbers that are typed, stepped with the arrow keys, or drawn with the slider of the one that has the focus.

import { clamp } from "../shared/numbers.js"
import { plainKey } from "../shared/shell.js"
import { fill } from "../shared/words.js"
import { edited } from "./edits.js"
import { inCell, typed, written } from "./written.js"
/** @import { State } from "./payload" */

const STEP = 0.5 // of the arrow keys
const [REACH, ROW_REACH] = [3, 20] // of the slider, to either side: of small numbers, and of a row of scores

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
  if (value !== null) slideTo(state, value)
  put(state, place, value ?? state.before)
}

function placeOf(node) {
  const cell = node.closest("td")
  return { matrix: node.closest("table").dataset.matrix, row: Number(cell.dataset.row), column: Number(cell.dataset.column) }
}

// Left with what is no number, a cell shows the one it still has.
function leave(state, input) {
  if (!input.matches("input")) return
  input.setAttribute("aria-invalid", "false")
  state.problem.textContent = ""
  const { matrix, row, column } = placeOf(input)
  input.value = inCell(state.numbers[matrix][row][column])
}

function showSlide(state, input) {
  if (!input.matches("input")) return
  state.act.stop(state)
  state.focused = placeOf(input)
  const { matrix, row, column } = state.focused
  remember(state, input)
  input.value = written(state.numbers[matrix][row][column], 6) // all of it, where there was room for a part
  state.slideName.textContent = input.getAttribute("aria-label")
  slideTo(state, state.numbers[matrix][row][column])
  state.slideRow.hidden = false
}

// The slider is where the number is: of one that lies farther out, it reaches so far.
function slideTo({ slide, meta }, value) {
  const reach = Math.max(meta.usual ? REACH : ROW_REACH, Math.ceil(Math.abs(value)))
  Object.assign(slide, { min: -reach, max: reach, value: String(value) })
}

// What a cell goes back to: its number when it was entered, or when Enter was pressed last.
function remember(state, input) {
  if (!input.matches("td input")) return
  const { matrix, row, column } = placeOf(input)
  state.before = state.numbers[matrix][row][column]
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
  const value = clamp(state.numbers[place.matrix][place.row][place.column] + step * STEP, -state.meta.most, state.meta.most)
  put(state, place, Number(value.toFixed(6)))
  event.target.value = written(value, 6)
  slideTo(state, value)
}
