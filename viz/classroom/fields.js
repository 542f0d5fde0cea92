// Input for questions without a few fixed options: a token or a number is typed, a head is chosen by its layer.

import { element } from "../components/shared/dom.js"
import { answerOf, give, offer } from "./answering.js"

const TYPING = 120 // milliseconds without another letter before the server is asked for tokens

// The server is asked for tokens with this beginning; they are offered as buttons, and Enter takes the first.
export function tokenField(vote) {
  const field = element("input", { maxlength: "60", autocomplete: "off", autocapitalize: "off", spellcheck: "false" })
  const again = () => field.value.trim() && vote.send({ kind: "complete", typed: field.value })
  let timer = 0
  field.addEventListener("input", () => {
    vote.entered = vote.hint.textContent = ""
    if (!vote.waiting) vote.problem.textContent = ""
    clearTimeout(timer)
    timer = setTimeout(again, TYPING)
  })
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return
    event.preventDefault()
    vote.entered = field.value.trim()
    again()
  })
  return { box: element("label", {}, vote.words.type, field), value: () => field.value, again }
}

export function numberField(vote) {
  const field = element("input", { inputmode: "text", maxlength: "40", autocomplete: "off", autocapitalize: "off", spellcheck: "false", required: "" })
  const button = element("button", { type: "submit", className: "first", textContent: vote.words.send })
  const form = element("form", {}, element("label", {}, vote.words.number, field), button)
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    give(vote, answerOf(vote, field.value))
  })
  return { box: form }
}

// The layer first, then the head, so that a model with many of both fits a phone.
export function headField(vote, { heads }) {
  const layers = heads.flatMap((count, layer) => (count ? [layer] : []))
  const row = element("div", { className: "options layers", role: "group", "aria-label": vote.words.layer })
  const buttons = layers.map((layer) => {
    const button = element("button", { type: "button", "aria-pressed": "false", textContent: `L${layer}` })
    button.addEventListener("click", () => open(layer))
    return button
  })
  const open = (chosen) => {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(layers[place] === chosen)))
    offer(vote, Array.from({ length: heads[chosen] }, (_, head) => [`L${chosen}H${head}`, `L${chosen}H${head}`]))
  }
  row.append(...buttons)
  vote.options.setAttribute("role", "group")
  vote.options.setAttribute("aria-label", vote.words.head)
  const box = element("div", {}, element("p", { className: "quiet", textContent: vote.words.layer_then_head }), row)
  const held = Number(/^L(\d+)H/.exec(vote.chosen)?.[1] ?? -1)
  if (layers.includes(held)) open(held)
  return { box }
}
