import { element, svg } from "../shared/dom.js"
import { markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { textsIn, wordAt, wordsIn } from "./page_text.js"
import { termsByName, wordsOf } from "./words.js"
/** @import { Host, Root } from "../shared/types" */
/** @import { Meta, State, GlossaryTerm } from "./types" */

const REST = 350 // ms that the pointer has to rest on a word before it is explained
const SETTLE = 600 // ms without a change of the page before its words are marked
const HIGHLIGHT = "atlas-terms"
const SLOP = 5 // pixels that a click may move
const SPECIAL = ".chip.special" // in the token strip
const INTERACTIVE = "button, a, label, summary, [role=button], [role=radio], [role=tab], [role=switch], [role=slider]"

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".glossary", { create, receive, draw, end })
}

/**
 * @param {Root} root
 * @param {AbortSignal} signal
 */
function create(root, signal) {
  const open = element("button", { type: "button", className: "open" })
  const list = element("dialog", { className: "list" })
  const note = element("div", { className: "note", role: "tooltip", popover: "manual" })
  const state = /** @type {any} */ ({ open, list, note, resting: 0, marking: 0, pressed: null, kept: "", down: null })
  open.addEventListener("click", () => list.showModal())
  list.addEventListener("click", (event) => event.target === list && list.close())
  // in the capture phase: a tab of Streamlit's (1.67) stops pointerdown from bubbling to the document
  document.addEventListener("pointermove", (event) => rest(state, event), { signal, capture: true, passive: true })
  document.addEventListener("pointerdown", (event) => press(state, event), { signal, capture: true })
  document.addEventListener("pointerup", (event) => tap(state, event), { signal, capture: true })
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide(state), { signal, capture: true })
  document.addEventListener("scroll", () => state.kept === "mouse" || hide(state), { signal, capture: true, passive: true })
  const observer = new MutationObserver(() => markSoon(state))
  observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  signal.addEventListener("abort", () => observer.disconnect())
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.meta = meta
  state.byName = termsByName(meta.terms)
  state.words = wordsOf([...state.byName.keys()])
}

/** @param {State} state */
function draw(state) {
  const { root, open, list, note, meta } = state
  readTheme(root)
  open.textContent = meta.texts.open
  const close = element("button", { type: "button", className: "close", textContent: meta.texts.close })
  close.addEventListener("click", () => list.close())
  list.setAttribute("aria-label", meta.texts.open)
  list.replaceChildren(element("h2", { textContent: meta.texts.open }), ...meta.terms.map(entry), close)
  if (!open.isConnected) root.replaceChildren(open, list, note)
  markSoon(state)
  markPainted(root)
}

/** @param {State} state */
function end(state) {
  clearTimeout(state.resting)
  clearTimeout(state.marking)
  CSS.highlights?.delete(HIGHLIGHT)
}

/** @param {GlossaryTerm} term */
function entry({ names, meaning, picture }) {
  const parts = [element("h3", { textContent: names[0] }), element("p", { textContent: meaning })]
  if (picture.length) parts.push(/** @type {any} */ (svg("svg", { viewBox: "0 0 120 60", "aria-hidden": "true" }, ...picture.map(([tag, attributes]) => svg(tag, attributes)))))
  return element("section", {}, ...parts)
}

// -- one word ---------------------------------------------------------------------------------------------------------

/**
 * @param {State} state
 * @param {PointerEvent} event
 */
function rest(state, event) {
  clearTimeout(state.resting)
  if (state.kept || event.pointerType === "touch" || event.buttons || state.list.open || inside(state.pressed, event)) return
  state.pressed = null
  const path = event.composedPath() // empty after the event was dispatched
  state.resting = setTimeout(() => explain(state, path, event), state.note.matches(":popover-open") ? 60 : REST)
}

// A press on a control uses it and does not explain it: its note is hidden, and can show again after the pointer has
// left the control. A press that does nothing else shows the note: see tap.
/**
 * @param {State} state
 * @param {PointerEvent} event
 */
function press(state, event) {
  const path = event.composedPath()
  if (path.includes(state.note)) return
  hide(state)
  const control = controlIn(path)
  state.pressed = control ? control.getBoundingClientRect() : null
  state.down = { x: event.clientX, y: event.clientY }
}

// The control that a press uses. The chip of a special token is not counted, since it is both used and explained.
/** @type {(path: EventTarget[]) => Element | undefined} */
const controlIn = (path) =>
  specialIn(path) ? undefined : /** @type {Element | undefined} */ (path.find((one) => one instanceof Element && one.matches(INTERACTIVE)))

/** @type {(path: EventTarget[]) => Element | undefined} */
const specialIn = (path) => /** @type {Element | undefined} */ (path.find((one) => one instanceof Element && one.matches(SPECIAL)))

/** @type {(box: DOMRect | null, event: PointerEvent) => boolean} */
const inside = (box, { clientX: x, clientY: y }) => box !== null && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom

// The note of a clicked or tapped word stays until something else or Escape is pressed. Controls keep their own
// function, and selecting text with the mouse is not a click.
/**
 * @param {State} state
 * @param {PointerEvent} event
 */
function tap(state, event) {
  const { down } = state
  state.down = null
  if (event.button || !down || Math.hypot(event.clientX - down.x, event.clientY - down.y) > SLOP) return
  const path = event.composedPath()
  if (state.list.open || path.includes(state.note) || controlIn(path)) return
  explain(state, path, event)
  if (state.note.matches(":popover-open")) state.kept = event.pointerType
}

/**
 * @param {State} state
 * @param {EventTarget[]} path
 * @param {PointerEvent} event
 */
function explain(state, path, { clientX, clientY }) {
  if (path.includes(state.note)) return
  const special = specialIn(path)
  const found = special ? { name: nameIn(special), range: special } : wordAt(path[0], state.words, clientX, clientY)
  const term = found && state.byName.get(found.name)
  if (!term) return hide(state)
  show(state, term, found.range.getBoundingClientRect(), controlIn(path))
}

/** @type {(chip: Element) => string} */
const nameIn = (chip) => (chip.querySelector(".label")?.textContent ?? "").toLowerCase()

// The note of a word in a control lets clicks through to what it covers; the note of a link is placed next to the link.
/**
 * @param {State} state
 * @param {GlossaryTerm} term
 * @param {DOMRect} box
 * @param {Element} [control]
 */
function show({ note, root }, term, box, control) {
  readTheme(root)
  note.replaceChildren(entry(term))
  note.classList.toggle("passing", control !== undefined)
  note.showPopover()
  const { width, height } = note.getBoundingClientRect()
  const beside = control?.closest("a")?.getBoundingClientRect()
  if (beside && beside.right + 8 + width <= innerWidth) {
    note.style.left = `${beside.right + 8}px`
    note.style.top = `${Math.max(8, Math.min(beside.top, innerHeight - height - 8))}px`
    return
  }
  note.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`
  note.style.top = `${box.bottom + 6 + height <= innerHeight ? box.bottom + 6 : Math.max(8, box.top - height - 6)}px`
}

/** @param {State} state */
function hide(state) {
  const { note, resting } = state
  clearTimeout(resting)
  state.kept = ""
  if (note.matches(":popover-open")) note.hidePopover()
}

// -- the words of the page --------------------------------------------------------------------------------------------

/** @param {State} state */
function markSoon(state) {
  clearTimeout(state.marking)
  state.marking = setTimeout(() => mark(state), SETTLE)
}

// Underline the first occurrence of each term with dots. Highlights leave the document itself unchanged.
/** @param {State} state */
function mark(state) {
  if (!CSS.highlights) return
  const seen = new Set()
  const ranges = []
  for (const text of textsIn(document.querySelector("[data-testid=stMain]") ?? document.body)) {
    for (const { name, range } of wordsIn(text, state.words)) {
      const term = state.byName.get(name)
      if (!term || seen.has(term) || !range.getClientRects().length) continue
      seen.add(term)
      ranges.push(range)
      dotted(/** @type {any} */ (text.getRootNode()))
    }
  }
  CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges))
}

/** @type {CSSStyleSheet | undefined} */
let line

// Add the style of the underlines to a document or shadow root.
/** @param {Document | ShadowRoot} root */
function dotted(root) {
  if (!line) {
    line = new CSSStyleSheet()
    line.replaceSync(`::highlight(${HIGHLIGHT}) { text-decoration: underline dotted; text-decoration-thickness: 1px; text-underline-offset: 3px }`)
  }
  if (!root.adoptedStyleSheets.includes(line)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, line]
}
