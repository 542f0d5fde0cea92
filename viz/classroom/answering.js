// Sends an answer to the server, and draws the buttons that give one.

import { element } from "../components/shared/dom.js"

const FEW = 3 // answers that stand below one another
const PATIENCE = 3000 // milliseconds without a message from the server before an answer is shown as being sent

/** @type {(vote: any, answer: string) => object} */
export const answerOf = (vote, answer) => ({ kind: "vote", round: vote.poll.round, answer, name: vote.name?.value ?? "" })

// It is kept until the server has replied to it, since a connection may be lost without anybody noticing yet.
export function give(vote, frame) {
  arrived(vote)
  vote.waiting = frame
  vote.sent = frame.name
  const unsent = () => (vote.problem.textContent = vote.words.unsent)
  if (vote.send(frame)) vote.slow = setTimeout(unsent, PATIENCE)
  else unsent()
}

// It is not known whether an earlier connection delivered the answer: it waits until the question comes again.
export function hold(vote) {
  vote.held = vote.waiting ?? vote.held
}

export function arrived(vote) {
  clearTimeout(vote.slow)
  vote.waiting = null
  vote.problem.textContent = ""
}

// ---- buttons --------------------------------------------------------------------------------------------------------

export function offer(vote, options) {
  vote.options.classList.toggle("few", options.length <= FEW && Boolean(vote.poll.options))
  const buttons = options.map(([value, label]) => {
    const button = element("button", { type: "button", "data-value": value, textContent: label })
    button.addEventListener("click", () => give(vote, answerOf(vote, value)))
    return button
  })
  vote.options.replaceChildren(...buttons)
  mark(vote)
}

export function mark(vote) {
  for (const button of vote.options.children) button.setAttribute("aria-pressed", String(button.dataset.value === vote.chosen))
}
