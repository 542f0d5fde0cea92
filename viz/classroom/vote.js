// A question to the class: what it is asked, what is tapped or typed, and what was understood.

import { element } from "../components/shared/dom.js"

const TYPING = 120 // milliseconds without another letter before the server is asked for tokens
const FEW = 3 // answers that stand below one another

/** @param {Record<string, string>} words @param {(frame: object) => void} send */
export function createVote(words, send) {
  const box = element("section", { className: "vote", hidden: true })
  const answer = element("p", { className: "answer", role: "status" })
  const problem = element("p", { className: "problem", role: "alert" })
  return { box, answer, problem, words, send, poll: /** @type {any} */ (null), options: element("div"), name: null, field: /** @type {HTMLInputElement | null} */ (null), chosen: "", timer: 0 }
}

// The question as it stands; the same round again, after the phone slept, keeps what is typed and asks for it once more.
export function showPoll(vote, poll) {
  vote.box.hidden = poll.state !== "open"
  if (poll.state !== "open") {
    vote.poll = poll
    vote.chosen = ""
    return
  }
  if (vote.poll?.state === "open" && vote.poll.round === poll.round) return askTokens(vote)
  const name = vote.name?.value ?? ""
  Object.assign(vote, { poll, chosen: vote.voted?.round === poll.round ? vote.voted.answer : "", name: null, field: null })
  vote.answer.textContent = vote.problem.textContent = ""
  vote.options = element("div", { className: "options" })
  const parts = /** @type {HTMLElement[]} */ ([])
  parts.push(element("h1", { textContent: poll.question }), element("p", { className: "text", textContent: poll.text }))
  if (poll.again) parts.push(element("p", { className: "quiet", textContent: vote.words.again }))
  if (poll.names) {
    vote.name = element("input", { maxlength: "40", autocomplete: "off" })
    vote.name.value = name
    parts.push(element("label", {}, vote.words.name, vote.name))
  }
  if (poll.options) offer(vote, poll.options)
  else parts.push(field(vote))
  vote.box.replaceChildren(...parts, vote.options, vote.answer, vote.problem)
  if (vote.voted?.round === poll.round) showVoted(vote, vote.voted)
}

// The server has counted this answer.
export function showVoted(vote, voted) {
  vote.voted = voted
  if (vote.poll?.round !== voted.round) return
  vote.chosen = voted.answer
  vote.problem.textContent = ""
  vote.answer.textContent = `${vote.words.your_answer.replace("{answer}", () => voted.label)}. ${vote.words.change}`
  mark(vote)
}

export function showCompleted(vote, { typed, options }) {
  if (vote.field && vote.field.value.trim() === typed.trim()) offer(vote, options)
}

export function showProblem(vote, sentence) {
  vote.problem.textContent = sentence
}

function askTokens(vote) {
  if (vote.field?.value.trim()) vote.send({ kind: "complete", typed: vote.field.value })
}

function field(vote) {
  vote.field = element("input", { maxlength: "60", autocomplete: "off", autocapitalize: "off", spellcheck: "false" })
  vote.field.addEventListener("input", () => {
    clearTimeout(vote.timer)
    vote.timer = setTimeout(() => askTokens(vote), TYPING)
  })
  return element("label", {}, vote.words.type, vote.field)
}

function offer(vote, options) {
  vote.options.classList.toggle("few", options.length <= FEW && Boolean(vote.poll.options))
  const buttons = options.map(([value, label]) => {
    const button = element("button", { type: "button", "data-value": value, textContent: label })
    button.addEventListener("click", () => {
      vote.problem.textContent = ""
      vote.send({ kind: "vote", round: vote.poll.round, answer: value, name: vote.name?.value ?? "" })
    })
    return button
  })
  vote.options.replaceChildren(...buttons)
  mark(vote)
}

function mark(vote) {
  for (const button of vote.options.children) button.setAttribute("aria-pressed", String(button.dataset.value === vote.chosen))
}
