import { chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose, pointed, scrolledByKeys } from "../shared/follow.js"
import { keepInLine } from "../shared/in_view.js"
import { clamp } from "../shared/numbers.js"
import { announcer, later, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { css, readTheme } from "../shared/theme.js"
import { cellUnder, colorsOf, paintGrid } from "./grid.js"
import { cellWords, countWords, restWords } from "./words.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".family-masks", { create, receive, draw, follow })
}

function create(root) {
  const state = /** @type {any} */ ({
    root, hovered: null, frame: 0, asking: 0, cards: [],
    list: element("div", { className: "kinds scroller", role: "radiogroup" }),
    readout: element("div", { className: "readout" }),
    legend: element("div", { className: "legend" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  })
  state.announce = announcer(state.live)
  root.replaceChildren(state.list, element("div", { className: "foot" }, state.readout, state.legend), state.live)
  state.list.addEventListener("keydown", (event) => onKey(state, event))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, ...arrays, hovered: null })
  state.selected = reconcile(state, "selected", meta.selected)
  if (!meta.kinds.some(({ name }) => name === state.selected)) state.selected = meta.selected // of other kinds
  state.list.setAttribute("aria-label", meta.texts.kinds)
  makeCards(state)
}

// One button per kind, kept from call to call so that the focus stays where it is.
/** @param {State} state */
function makeCards(state) {
  const { meta, list } = state
  if (state.cards.length !== meta.kinds.length) {
    state.cards = meta.kinds.map((_, i) => makeCard(state, i))
    list.replaceChildren(...state.cards.map((card) => card.button))
    state.inSight = ""
  }
  state.cards.forEach((card, i) => {
    const kind = meta.kinds[i]
    for (const part of ["title", "use", "who", "note"]) card[part].textContent = kind[part]
    card.button.dataset.kind = kind.name
    card.button.disabled = !mayChoose(state)
    card.canvas.setAttribute("aria-label", countWords(state, i))
  })
}

/** @param {State} state */
function makeCard(state, i) {
  const [title, use] = [element("b"), element("span", { className: "use" })]
  const canvas = element("canvas", { role: "img" })
  const [who, note] = [element("span", { className: "who" }), element("span", { className: "note" })]
  const button = element("button", { type: "button", role: "radio" }, title, use, canvas, who, note)
  button.addEventListener("click", () => open(state, state.meta.kinds[i].name))
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellUnder(canvas, event, state.meta.kinds[i].tokens.length)
    hover(state, cell && { kind: i, ...cell })
  })
  canvas.addEventListener("pointerleave", () => hover(state, null))
  return { button, title, use, canvas, who, note }
}

/** @param {State} state */
function draw(state) {
  const { root, meta, cards } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  cards.forEach((card, i) => {
    const isOpen = meta.kinds[i].name === state.selected
    card.button.setAttribute("aria-checked", String(isOpen))
    card.button.tabIndex = isOpen ? 0 : -1
    paintGrid(state, card.canvas, i)
  })
  keepInLine(state, state.list, cards[meta.kinds.findIndex((kind) => kind.name === state.selected)]?.button)
  scrolledByKeys(state.list, state)
  showFoot(state)
  root.dataset.selected = state.selected
  markPainted(root)
  pointed(state, { of: gridsOf(state), selected: state.selected, hovered: state.hovered })
}

/** @param {State} state */
const gridsOf = ({ meta }) => meta.kinds.map(({ name, tokens }) => `${name} ${tokens.length}`).join()

// The kind and the cell that another user looks at, in grids of the same sizes.
/** @type {(state: State, told: { of: string, selected: string, hovered: State["hovered"] }) => void} */
function follow(state, { of, selected, hovered }) {
  if (of !== gridsOf(state)) return
  Object.assign(state, { selected, hovered })
  chosen(state, "selected", selected)
  draw(state)
}

/** @param {State} state */
function showFoot(state) {
  const { texts, kinds } = state.meta
  state.readout.textContent = state.hovered ? cellWords(state, state.hovered) : restWords(state)
  const colors = colorsOf(state)
  const parts = ["before", "after", "across"].map((part, i) => {
    const swatch = element("i")
    swatch.style.background = css(colors[i + 1])
    return element("span", {}, swatch, texts[`legend_${part}`])
  })
  state.legend.replaceChildren(...parts)
  state.root.dataset.hovered = state.hovered ? `${kinds[state.hovered.kind].name} ${state.hovered.query} ${state.hovered.key}` : ""
}

// ---- input ----------------------------------------------------------------------------------------------------------

// Draw the choice at once and tell the host after `wait` milliseconds.
function open(state, name, wait = 0) {
  state.selected = name
  chosen(state, "selected", name)
  tell(state, "kind", name, wait)
  draw(state)
}

function hover(state, cell) {
  if (JSON.stringify(cell) === JSON.stringify(state.hovered)) return
  state.hovered = cell
  if (cell) state.announce(cellWords(state, cell))
  later(state)
}

function onKey(state, event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
  if (!step || !plainKey(event) || !mayChoose(state)) return
  const { kinds } = state.meta
  const at = clamp(kinds.findIndex((kind) => kind.name === state.selected) + step, 0, kinds.length - 1)
  event.preventDefault()
  if (kinds[at].name !== state.selected) open(state, kinds[at].name, 150) // debounced while a key is held
  state.cards[at].button.focus()
}
