// At the reveal: what this phone answered, in a sentence, and where it stands among the answers of the class.

const BOLD = "font-weight: 700; text-decoration: underline"

// The answer in the round that is revealed, else none.
export function showOwn(stage, { poll, voted, words }) {
  const mine = poll?.state === "revealed" && voted?.round === poll.round ? voted.label : ""
  stage.own.textContent = mine && words.was_yours.replace("{answer}", () => mine)
  stage.mine = mine
  for (const figure of stage.held.values()) figure.done.then(() => markOwn(stage, figure))
}

// Its row in a figure as it is drawn now.
export function markOwn({ mine }, { box, host }) {
  if (!box.dataset.key?.startsWith("poll_")) return
  for (const text of host.shadowRoot.querySelectorAll("text")) {
    const own = Boolean(mine) && text.textContent === mine
    text.style.cssText = own ? BOLD : ""
    text.classList.toggle("own", own)
  }
}
