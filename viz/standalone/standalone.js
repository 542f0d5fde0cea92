// The host of a component outside the app: it gives each figure its data once and keeps the state to itself.
const parts = /** @type {HTMLTemplateElement} */ (document.getElementById("component"))
for (const section of document.querySelectorAll("section")) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (section.querySelector(`.${name}`))
  const parentElement = part("figure").attachShadow({ mode: "open" })
  parentElement.append(parts.content.cloneNode(true))
  const data = Uint8Array.from(atob(part("payload").textContent), (character) => character.charCodeAt(0))
  component({ data, parentElement, follows: true, alone: true, setTriggerValue: () => {} })
}
