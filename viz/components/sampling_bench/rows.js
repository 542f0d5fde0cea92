// The column of controls: one row per transform, in the order in which they are applied, with the effect of each.

import { element, focusedBeside } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { bits, chance, LEAST, stepOf } from "./settings.js"
/** @import { State } from "./types" */

export function buildRows(state) {
  const list = element("ol", { className: "transforms" })
  state.rowOf = {}
  state.modelRow = { effect: element("span", { className: "effect" }), token: element("span", { className: "token-effect" }), bar: element("i") }
  state.modelName = element("b")
  state.note = element("p", { className: "note", role: "status" })
  const model = element("div", { className: "stage model" },
    element("div", { className: "told" }, state.modelName, state.modelRow.effect, state.modelRow.token),
    element("div", { className: "gauge", "aria-hidden": "true" }, state.modelRow.bar))
  state.list = list
  return [buildHead(state), model, list, state.note]
}

function buildHead(state) {
  state.tabs = ["a", "b"].map((bench) => {
    const tab = element("button", { type: "button", className: `tab ${bench}`, textContent: bench.toUpperCase() })
    tab.addEventListener("click", () => state.act.edit(bench))
    return tab
  })
  state.tabList = element("span", { className: "tabs", role: "group" }, ...state.tabs)
  state.compareBox = element("input", { type: "checkbox", className: "compare" })
  state.compareBox.addEventListener("change", () => state.act.compare(state.compareBox.checked))
  state.compareWord = element("span")
  state.resetButton = element("button", { type: "button", className: "quiet reset" })
  state.resetButton.addEventListener("click", () => state.act.reset())
  const compare = element("label", { className: "comparing" }, state.compareBox, state.compareWord)
  return element("div", { className: "head" }, state.tabList, compare, state.resetButton)
}

function buildRow(state, name, transform) {
  const row = {
    transform,
    name: element("label", { className: "name", for: `slide-${name}` }),
    slider: element("input", { type: "range", id: `slide-${name}`, min: "0", step: "1" }),
    value: element("input", { type: "text", className: "value", inputmode: "decimal", autocomplete: "off", spellcheck: "false" }),
    power: element("input", { type: "checkbox", role: "switch" }),
    up: element("button", { type: "button", className: "move", textContent: "↑" }),
    down: element("button", { type: "button", className: "move", textContent: "↓" }),
    about: element("p", { className: "about" }),
    effect: element("span", { className: "effect" }),
    token: element("span", { className: "token-effect" }),
    problem: element("p", { className: "problem", role: "alert", hidden: true }),
    bar: element("i"),
    remembered: transform.first, wrong: null, typing: false,
  }
  row.slider.addEventListener("input", () => state.act.slide(name, row.transform.steps[Number(row.slider.value)]))
  row.slider.addEventListener("change", () => state.act.settle())
  row.value.addEventListener("input", () => (row.typing = true))
  row.value.addEventListener("change", () => state.act.type(name, row.value.value))
  row.value.addEventListener("keydown", (event) => onValueKey(state, name, event))
  row.power.addEventListener("change", () => state.act.power(name, row.power.checked))
  row.up.addEventListener("click", () => state.act.move(name, -1))
  row.down.addEventListener("click", () => state.act.move(name, 1))
  row.node = element("li", { className: "stage", "data-transform": name },
    element("div", { className: "control" },
      element("span", { className: "moves" }, row.up, row.down), row.name, row.slider, row.value, row.power),
    row.problem,
    row.about,
    element("div", { className: "told" }, row.effect, row.token),
    element("div", { className: "gauge", "aria-hidden": "true" }, row.bar))
  state.list.append(row.node)
  return row
}

// The up and down arrow keys step the field like the slider; Escape reverts what was typed.
function onValueKey(state, name, event) {
  const row = state.rowOf[name]
  const turn = { ArrowUp: 1, ArrowDown: -1 }[event.key]
  if (turn) {
    const { steps } = row.transform
    const at = clamp(stepOf(state.settings[state.edited][name], row.transform) + turn, 0, steps.length - 1)
    state.act.slide(name, steps[at])
    state.act.settle()
    event.preventDefault()
  } else if (event.key === "Escape") {
    row.wrong = null
    row.typing = false
    paintRows(state)
    event.stopPropagation()
  }
}

// Set the text and the slider's steps of each transform's row, which depend only on the payload.
/** @param {State} state */
export function labelRows(state) {
  const { texts, transforms } = state.meta
  for (const [name, transform] of Object.entries(transforms)) {
    const row = (state.rowOf[name] ??= buildRow(state, name, transform))
    const words = { name: transform.label }
    Object.assign(row, { transform, wrong: null, typing: false })
    row.slider.max = String(transform.steps.length - 1)
    row.name.textContent = transform.label
    row.about.textContent = transform.about
    row.value.setAttribute("aria-label", fill(texts.value, words))
    row.power.setAttribute("aria-label", fill(texts.on, words))
    row.up.setAttribute("aria-label", fill(texts.earlier, words))
    row.down.setAttribute("aria-label", fill(texts.later, words))
  }
  state.modelName.textContent = texts.model
  state.compareWord.textContent = texts.compare
  state.resetButton.textContent = texts.reset
  for (const tab of state.tabs) tab.setAttribute("aria-label", fill(texts.edited, { name: tab.textContent }))
}

// ---- painting -------------------------------------------------------------------------------------------------------

export function paintRows(state) {
  const settings = state.settings[state.edited]
  const result = state.results[state.edited]
  orderRows(state, settings.order)
  state.tabList.hidden = !state.compare
  state.compareBox.checked = state.compare
  state.tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", String("ab"[i] === state.edited)))
  state.root.dataset.edited = state.edited
  paintEffect(state, state.modelRow, result.stages[0], true)
  settings.order.forEach((name, i) => {
    paintControl(state, name, settings)
    const { transform } = state.rowOf[name]
    paintEffect(state, state.rowOf[name], result.stages[i + 1], settings[name] !== transform.off, settings[name])
  })
  state.note.textContent = noteOf(state, settings, result)
}

function orderRows(state, order) {
  const now = [...state.list.children].map((node) => node.dataset.transform)
  if (order.every((name, i) => name === now[i])) return
  const held = /** @type {HTMLElement | null} */ (focusedBeside(state.root))
  state.list.append(...order.map((name) => state.rowOf[name].node))
  held?.focus({ preventScroll: true }) // moving a button loses its focus
}

/** @param {State} state */
function paintControl(state, name, settings) {
  const row = state.rowOf[name]
  const value = settings[name]
  const { off, steps } = row.transform
  const on = value !== off
  if (row.wrong !== null) row.value.setAttribute("aria-invalid", "true")
  else {
    row.value.removeAttribute("aria-invalid")
    if (!row.typing) row.value.value = on ? String(value) : state.meta.texts.off
  }
  row.problem.hidden = row.wrong === null
  row.problem.textContent = row.wrong ?? ""
  const step = String(stepOf(value, row.transform))
  if (row.slider.value !== step) row.slider.value = step
  row.slider.setAttribute("aria-valuetext", on ? String(value) : state.meta.texts.off)
  row.slider.style.setProperty("--at", `${(100 * Number(step)) / (steps.length - 1)}%`)
  row.power.checked = on
  row.node.classList.toggle("off", !on)
  row.up.disabled = settings.order[0] === name
  row.down.disabled = settings.order.at(-1) === name
}

/** @type {(state: State, row: any, stage: any, on: boolean, value?: number) => void} */
function paintEffect(state, row, stage, on, value) {
  const { texts } = state.meta
  row.token.textContent = ""
  const values = { kept: wholeNumber(stage.kept), mass: chance(stage.keptMass, texts), bits: bits(stage.entropy), count: wholeNumber(stage.kept) }
  const template = !on ? texts.effect_off : row.transform?.removes ? texts.effect : texts.effect_shape
  row.effect.textContent = (value === 0 && row.transform?.at_zero) || fill(template, values)
  const most = Math.log2(Math.max(2, state.logits.length))
  row.bar.style.width = `${clamp((100 * stage.entropy) / most, 0, 100)}%`
  row.bar.parentElement.title = fill(texts.gauge, { bits: bits(stage.entropy), most: bits(most) })
  if (state.find === null) return
  const label = isolate(state.meta.labels[state.find])
  const shown = { label, percent: chance(stage.p, texts, stage.rank > 0 ? LEAST : null), rank: wholeNumber(stage.rank) }
  row.token.textContent = fill(stage.rank > 0 ? texts.token_at : texts.token_removed, shown)
}

/** @param {State} state */
function noteOf(state, settings, result) {
  const { texts, transforms } = state.meta
  const count = state.logits.length
  const all = Object.entries(transforms)
  for (const [name, { beyond }] of all)
    if (beyond && settings[name] > count) return fill(beyond, { count: wholeNumber(count), value: wholeNumber(settings[name]) })
  const said = all.some(([name, { at_zero }]) => at_zero && settings[name] === 0)
  return result.kept === 1 && !said ? texts.one_left : ""
}
