// The host of a component outside the app: it gives the data once and keeps the state to itself.
const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const parentElement = part("figure").attachShadow({ mode: "open" })
parentElement.append(/** @type {HTMLTemplateElement} */ (part("component")).content.cloneNode(true))
const data = Uint8Array.from(atob(part("payload").textContent), (character) => character.charCodeAt(0))
const mount = () => component({ data, parentElement, follows: true, setTriggerValue: () => {} })
mount()
