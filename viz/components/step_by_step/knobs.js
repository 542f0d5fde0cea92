// Sliders above the steps. The browser draws a change at once; the host receives it, debounced, when the slider rests.

import { chosen } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { written } from "./written.js"
/** @import { DrawnKnob, State } from "./types" */

const REST = 200 // milliseconds of the debounce

// Show the sliders of this chain; rebuild them only if they changed.
/** @param {State} state */
export function placeKnobs(state) {
  const knobs = state.meta.chain?.knobs ?? []
  const wanted = JSON.stringify(knobs.map(({ value: _value, ...made }) => made))
  if (state.knobsMade !== wanted) {
    state.knobsMade = wanted
    state.sliders = knobs.map((knob) => slider(state, knob))
    state.knobRow.replaceChildren(...state.sliders.map((one) => one.label))
    state.knobRow.hidden = !knobs.length
  }
  state.sliders.forEach(({ knob, input, shown }) => {
    const value = state.knobs[knob.name]
    if (state.turned !== knob.name) input.value = String(knob.values ? knob.values.indexOf(value) : value)
    shown.textContent = written(value)
    input.setAttribute("aria-valuetext", written(value))
  })
}

/** @type {(state: State, knob: DrawnKnob) => { knob: DrawnKnob, input: HTMLInputElement, label: HTMLElement, shown: HTMLElement }} */
function slider(state, knob) {
  const span = knob.values ? { min: 0, max: knob.values.length - 1, step: 1 } : { min: knob.least, max: knob.most, step: knob.step }
  const input = element("input", { type: "range", ...span, "aria-label": knob.label, "data-knob": knob.name })
  const shown = element("output")
  input.addEventListener("input", () => {
    state.turned = knob.name // do not overwrite this slider until it rests
    turn(state, knob.name, knob.values ? knob.values[Number(input.value)] : Number(input.value))
  })
  input.addEventListener("change", () => rest(state))
  return { knob, input, shown, label: element("label", { className: "knob" }, element("span", { textContent: knob.label }), input, shown) }
}

function turn(state, name, value) {
  state.knobs = { ...state.knobs, [name]: value }
  chosen(state, "knobs", state.knobs)
  state.act.follow(state)
}

// The slider was released or a key was pressed, perhaps one of several.
function rest(state) {
  clearTimeout(state.turning) // a separate timer, as for typed numbers
  state.turning = setTimeout(() => {
    state.turned = ""
    state.send("knobs", state.knobs)
  }, REST)
}
