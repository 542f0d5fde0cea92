// An answer on its way, and the buttons that give one.

import { element } from "../components/shared/dom.js"

const FEW = 3 // answers that stand below one another
const PATIENCE = 3000 // milliseconds without a word from the server before an answer is said to be on its way

/** @type {(vote: any, answer: string) => object} */
export const answerOf = (vote, answer) => ({ kind: "vote", round: vote.poll.round, answer, name: vote.name?.value ?? "" })

// It is kept until the server has said something to it: a connection may be lost without anybody knowing yet.
export function give(vote, frame) {
  arrived(vote)
  vote.waiting = frame
  vote.sent = frame.name
  const unsent = () => (vote.problem.textContent = vote.words.unsent)
  if (vote.send(frame)) vote.slow = setTimeout(unsent, PATIENCE)
  else unsent()
}

// Of a connection before this one nobody knows whether it brought the answer: it waits for the question to come again.
export function hold(vote) {
  vote.held = vote.waiting ?? vote.held
}

export function arrived(vote) {
  clearTimeout(vote.slow)
  vote.waiting = null
  vote.problem.textContent = ""
}

// ---- what is tapped on ----------------------------------------------------------------------------------------------

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
