// At the reveal: this phone's answer, in a sentence, and its place among the answers of the class.

const BOLD = "font-weight: 700; text-decoration: underline"
const FIRST = "poll_vote_0" // of one vote, or of two

// The answer in the round that is revealed, or none.
export function showOwn(stage, { poll, labels, words }) {
  const given = (/** @type {number} */ round) => (poll?.state === "revealed" && labels.get(round)) || ""
  const mine = given(poll?.round)
  stage.own.textContent = mine && words.was_yours.replace("{answer}", () => mine)
  stage.mine = { mine, first: poll?.again ? given(poll.round - 1) : mine }
  for (const figure of stage.held.values()) figure.done.then(() => markOwn(stage, figure))
}

// Its row in a figure as currently drawn: in the first of two votes, the answer given then.
export function markOwn({ mine: { mine, first } }, { box, host }) {
  if (!box.dataset.key?.startsWith("poll_")) return
  const label = box.dataset.key === FIRST ? first : mine
  for (const text of host.shadowRoot.querySelectorAll("text")) {
    const own = Boolean(label) && text.textContent === label
    text.style.cssText = own ? BOLD : ""
    text.classList.toggle("own", own)
  }
}
