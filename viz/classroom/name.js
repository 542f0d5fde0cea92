// The name that a teacher asks for: stored only by this tab, and sent with the current answer when it is changed.

import { element } from "../components/shared/dom.js"
import { answerOf, give } from "./answering.js"

const NAME_TYPING = 700 // milliseconds without another letter before a changed name is sent

/** @type {(vote: any) => { field: HTMLInputElement, box: HTMLElement }} */
export function nameField(vote) {
  const field = element("input", { maxlength: "40", autocomplete: "off" })
  field.value = vote.names.known()
  vote.asks = element("span", { className: "asks", role: "status" })
  const send = () => vote.name === field && sendAgain(vote)
  let timer = 0
  field.addEventListener("input", () => {
    vote.names.keep(field.value)
    if (field.value.trim()) vote.asks.textContent = ""
    clearTimeout(timer)
    timer = setTimeout(send, NAME_TYPING)
  })
  field.addEventListener("change", () => {
    clearTimeout(timer)
    send()
  })
  return { field, box: element("label", {}, vote.words.name, field, vote.asks) }
}

// Once, to users who answered without one.
export function askForName(vote) {
  if (!vote.name || vote.name.value.trim() || vote.asked) return
  vote.asked = true
  vote.asks.textContent = vote.words.asks_names
}

// The server treats it as a changed answer.
/** @param {any} vote */
function sendAgain(vote) {
  const answer = vote.waiting?.answer ?? vote.chosen
  const frame = /** @type {{ name: string }} */ (answerOf(vote, answer))
  if (answer && vote.poll?.state === "open" && frame.name.trim() !== vote.sent?.trim()) give(vote, frame)
}
