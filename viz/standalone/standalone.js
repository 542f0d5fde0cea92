// The host of a component outside the app: it gives the data once and keeps the state to itself.
const parentElement = document.getElementById("figure").attachShadow({ mode: "open" })
parentElement.append(document.getElementById("component").content.cloneNode(true))
const data = Uint8Array.from(atob(document.getElementById("payload").textContent), (character) => character.charCodeAt(0))
const mount = () => component({ data, parentElement, follows: true, setTriggerValue: () => {} })
mount()
