// The panel of a narrow strip: its layers and the heads of the open one, as buttons large enough for touch.

import { element } from "../shared/dom.js"
import { plainKey } from "../shared/shell.js"
import { fill } from "../shared/words.js"
import { kindOf, rowOf } from "./layout.js"
import { nameOfHead, nameOfLayer } from "./words.js"
/** @import { State } from "./types" */

/** @type {(state: State, pick: (place: import("./types").Place) => void) => Node[]} */
export function drawPanel(state, pick) {
  const { meta, place } = state
  const [layer, head, attention] = place
  const row = meta.rows[rowOf(meta.rows, attention)]
  const own = Math.max(0, row.attentions.indexOf(attention))
  const counts = (/** @type {number} */ at) => kindOf(row, at).attentions[own]
  const layers = row.layers.map((_, at) => choice({
    words: nameOfLayer(state, at), checked: at === layer, disabled: !counts(at) && meta.picks !== "layers", kind: "layer", at,
    title: counts(at) ? "" : fill(meta.texts.no_head, { name: `L${at}` }),
    press: () => pick([at, Math.min(head, (counts(at)?.[0] ?? 1) - 1), attention]),
  }))
  const heads = Array.from({ length: counts(layer)?.[0] ?? 0 }, (_, at) => choice({
    words: nameOfHead(state, layer, at), checked: at === head, disabled: false, kind: "head", at, title: "",
    press: () => pick([layer, at, attention]),
  }))
  return [group(meta.texts.layer, layers), group(meta.texts.head, heads)]
}

/** @type {(label: string, buttons: HTMLButtonElement[]) => HTMLElement} */
function group(label, buttons) {
  const box = element("div", { className: "choices", role: "radiogroup", "aria-label": label }, ...buttons)
  box.addEventListener("keydown", (event) => onKey(buttons, event))
  return element("div", { className: "line" }, element("span", { textContent: label }), box)
}

/** @type {(of: { words: string, checked: boolean, disabled: boolean, kind: string, at: number, title: string, press: () => void }) => HTMLButtonElement} */
function choice({ words, checked, disabled, kind, at, title, press }) {
  const button = element("button", { type: "button", role: "radio", "aria-checked": String(checked), textContent: words, [`data-${kind}`]: at })
  Object.assign(button, { disabled, title, tabIndex: checked ? 0 : -1 })
  button.addEventListener("click", press)
  return button
}

/** @type {(buttons: HTMLButtonElement[], event: KeyboardEvent) => void} */
function onKey(buttons, event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
  if (!step || !plainKey(event)) return
  event.preventDefault()
  const enabled = buttons.filter((button) => !button.disabled)
  enabled[enabled.findIndex((button) => button.getAttribute("aria-checked") === "true") + step]?.click()
}
