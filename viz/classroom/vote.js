// A question to the class: its text, the input, and what the server understood.

import { element } from "../components/shared/dom.js"
import { arrived, give, mark, offer } from "./answering.js"
import { askForName, nameField } from "./name.js"
import { headField, numberField, tokenField } from "./fields.js"

/** @param {Record<string, string>} words @param {(frame: object) => boolean} send @param {object} names as kept.js has them */
export function createVote(words, send, names) {
  const box = element("section", { className: "vote", hidden: true })
  const answer = element("p", { className: "answer", role: "status" })
  const problem = element("p", { className: "problem", role: "alert" })
  const hint = element("p", { className: "quiet", role: "status" }) // above the options
  return { box, answer, problem, hint, words, send, names, asks: /** @type {any} */ (null), asked: false, sent: /** @type {string | undefined} */ (undefined), poll: /** @type {any} */ (null), labels: new Map(), options: element("div"), name: null, field: /** @type {any} */ (null), chosen: "", entered: "", waiting: /** @type {any} */ (null), held: /** @type {any} */ (null), slow: 0 }
}

// Show the question; the same round again, after a lost connection, keeps the input and sends again what had not
// arrived. Returns whether an answer came too late.
export function showPoll(vote, poll) {
  const { held } = vote
  vote.held = null
  vote.box.hidden = poll.state !== "open"
  if (vote.poll?.state === "open" && poll.state === "open" && vote.poll.round === poll.round) {
    if (held) give(vote, held)
    vote.field?.again?.()
    return false
  }
  arrived(vote)
  vote.poll = poll
  if (poll.state === "open") ask(vote, poll)
  return Boolean(held)
}

function ask(vote, poll) {
  Object.assign(vote, { chosen: vote.voted?.round === poll.round ? vote.voted.answer : "", name: null, field: null })
  vote.answer.textContent = vote.hint.textContent = ""
  vote.options = element("div", { className: "options" })
  const parts = /** @type {HTMLElement[]} */ ([])
  parts.push(element("h2", { textContent: poll.question }), element("p", { className: "text", textContent: poll.text }))
  parts.push(element("p", { className: "changed", textContent: poll.changed })) // what the model is changed by
  if (poll.again) parts.push(element("p", { className: "quiet", textContent: vote.words.again }))
  if (poll.names) {
    const { field, box } = nameField(vote)
    vote.name = field
    parts.push(box)
  }
  if (poll.options) offer(vote, poll.options)
  else {
    const field = poll.heads ? headField : poll.about === "number" ? numberField : tokenField
    vote.field = field(vote, poll)
    parts.push(vote.field.box)
  }
  vote.box.replaceChildren(...parts, vote.hint, vote.options, vote.answer, vote.problem)
  if (vote.voted?.round === poll.round) showVoted(vote, vote.voted)
}

// The server has counted this answer.
export function showVoted(vote, voted) {
  vote.voted = voted
  vote.labels.set(voted.round, voted.label)
  if (vote.poll?.round !== voted.round) return
  arrived(vote)
  vote.chosen = voted.answer
  vote.answer.textContent = vote.words.your_answer.replace("{answer}", () => voted.label)
  mark(vote)
  askForName(vote)
}

// Tokens with this beginning; if there is none, the longest ones that the input can be made of, to tap only.
export function showCompleted(vote, { typed, options, beginnings = [] }) {
  const asked = typed.trim()
  if (vote.field?.value?.().trim() !== asked) return
  offer(vote, options.length ? options : beginnings)
  vote.hint.textContent = beginnings.length ? vote.words.pieces : ""
  if (!vote.waiting) vote.problem.textContent = options.length || beginnings.length ? "" : vote.words.no_token
  if (options.length && vote.entered === asked) vote.options.querySelector("button")?.click()
  vote.entered = ""
}

export function showProblem(vote, sentence) {
  arrived(vote)
  vote.problem.textContent = sentence
}
