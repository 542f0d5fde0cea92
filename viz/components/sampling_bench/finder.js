// Find any token of the vocabulary by part of its text or by its id. Marking it shows its probability at every stage.

import { closest, element } from "../shared/dom.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { chance } from "./settings.js"
/** @import { State } from "./types" */

const FOUND = 5 // tokens listed; the rest are only counted

export function buildFinder(state) {
  state.findWord = element("label", { for: "bench-find" })
  state.findBox = element("input", { type: "search", id: "bench-find", autocomplete: "off", spellcheck: "false" })
  state.findBox.addEventListener("input", () => paintFinder(state))
  state.findBox.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.foundTokens?.length) state.act.mark(state.foundTokens[0])
    else if (event.key === "Escape") {
      state.findBox.value = ""
      paintFinder(state)
      state.act.mark(null)
    } else return
    event.preventDefault()
    event.stopPropagation()
  })
  state.unmark = element("button", { type: "button", className: "quiet unmark" })
  state.unmark.addEventListener("click", () => state.act.mark(null))
  state.foundList = element("ul", { className: "found" })
  state.foundList.addEventListener("click", (event) => {
    const button = closest(event, "button")
    if (button) state.act.mark(Number(button.dataset.token), { toggle: true })
  })
  const row = element("div", { className: "find-row" }, state.findWord, state.findBox, state.unmark)
  return element("div", { className: "finder" }, row, state.foundList)
}

// Tokens whose text contains the typed text (a space is written ·), most likely first. An exact id comes before all,
// then exact matches of the text.
/** @param {State} state */
function findTokens(state, typed) {
  const wanted = typed.replaceAll(" ", "·").toLowerCase()
  if (!wanted) return []
  state.lower ??= state.meta.labels.map((label) => label.toLowerCase())
  const found = []
  for (const token of state.order) if (state.lower[token].includes(wanted)) found.push(token)
  const exact = found.filter((token) => state.meta.labels[token] === typed.replaceAll(" ", "·"))
  const id = /^\d+$/.test(typed) && Number(typed) < state.order.length ? [Number(typed)] : []
  return [...new Set([...id, ...exact, ...found])]
}

/** @param {State} state */
export function paintFinder(state) {
  const { texts, labels } = state.meta
  const asked = JSON.stringify([state.findBox.value, state.find])
  if (state.found === asked) return // do not search again while a slider is dragged
  state.found = asked
  state.findWord.textContent = texts.find
  state.findBox.placeholder = texts.find_hint
  state.unmark.textContent = texts.unmark
  state.unmark.hidden = state.find === null
  const found = (state.foundTokens = findTokens(state, state.findBox.value.trimEnd() || state.findBox.value))
  const rows = found.slice(0, FOUND).map((token) => {
    const values = { label: isolate(labels[token]), rank: wholeNumber(state.rank[token] + 1), percent: chance(state.own[token], texts), id: String(token) }
    return element("li", {}, element("button", { type: "button", "data-token": String(token), "aria-pressed": String(token === state.find), textContent: fill(texts.found, values) }))
  })
  if (found.length > FOUND) rows.push(element("li", { className: "more", textContent: fill(texts.found_more, { count: wholeNumber(found.length - FOUND) }) }))
  if (!found.length && state.findBox.value) rows.push(element("li", { className: "more", textContent: texts.found_none }))
  state.foundList.replaceChildren(...rows)
}
