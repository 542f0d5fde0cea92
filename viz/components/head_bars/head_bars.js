import { chosen, reconcile } from "../shared/choice.js"
import { closest, element } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { bringIntoView, partOf } from "../shared/in_view.js"
import { clamp } from "../shared/numbers.js"
import { markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, formatNumber } from "../shared/words.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const SEND_AFTER = 150 // milliseconds by which arrow keys are debounced

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".head-bars", { create, receive, draw, follow })
}

function create(root) {
  const list = element("div", { className: "list", role: "listbox" })
  const rest = element("p", { className: "rest" })
  root.replaceChildren(list, rest)
  const state = /** @type {any} */ ({ list, rest, meta: null, selected: null, focused: null })
  list.addEventListener("click", (event) => {
    const row = closest(event, "button")?.dataset.row
    if (row !== undefined) choose(state, Number(row), 0)
  })
  list.addEventListener("keydown", (event) => onKey(state, event))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, arrays })
  state.selected = reconcile(state, "selected", meta.selected)
  if ((state.focused ?? 0) >= meta.heads.length) state.focused = null
}

const nameOf = ([layer, head]) => `L${layer}H${head}`

/** @param {State} state */
const rowOpen = ({ meta, selected }) => meta.heads.findIndex((head) => String(head) === String(selected))

/** @param {State} state */
function draw(state) {
  const { root, meta, list, rest } = state
  const { texts } = meta
  readTheme(root, meta.palette)
  while (list.children.length > meta.heads.length) list.lastChild?.remove()
  while (list.children.length < meta.heads.length) list.append(rowNode(list.children.length))
  list.setAttribute("aria-label", texts.summary ?? "")
  const open = rowOpen(state)
  for (let row = 0; row < meta.heads.length; row++) drawRow(state, row, open)
  rest.textContent = [ofOpen(state, open), ofRest(state)].filter(Boolean).join(" · ")
  root.dataset.selected = state.selected.join()
  markPainted(root)
  tellPointed(state)
}

const tellPointed = (state) => pointed(state, { of: String(state.meta.heads), chosen: state.selected, hovered: null })

/** @param {number} row */
function rowNode(row) {
  const bar = element("span", { className: "bar" })
  const track = element("span", { className: "track" }, bar, element("span", { className: "number" }))
  return element("button", { type: "button", role: "option", "data-row": row }, element("span", { className: "name" }), " ", track)
}

/** @param {State} state */
function drawRow(state, row, open) {
  const { meta, arrays, list } = state
  const node = /** @type {any} */ (list.children[row])
  const head = nameOf(meta.heads[row])
  const value = formatNumber(arrays.values[row], "percent", meta.texts)
  const say = (part, words) => {
    const place = node.querySelector(part)
    if (place.textContent !== words) place.textContent = words
  }
  say(".name", head)
  say(".number", value)
  node.querySelector(".bar").style.width = `${(100 * clamp(arrays.values[row], 0, 1)).toFixed(2)}%`
  node.setAttribute("aria-label", `${head} ${value}`)
  node.setAttribute("aria-selected", String(row === open))
  node.classList.toggle("selected", row === open)
  node.tabIndex = row === (state.focused ?? Math.max(0, open)) ? 0 : -1
  node.disabled = !mayChoose(state)
}

// The rank of the open head if it is not in the list. Empty for a head that was just chosen: it is in the list.
/** @param {State} state */
function ofOpen({ meta, selected }, open) {
  if (open >= 0 || meta.place === null || String(selected) !== String(meta.selected)) return ""
  const value = formatNumber(meta.value, "percent", meta.texts)
  return fill(meta.texts.open, { head: nameOf(selected), value, place: meta.place, count: meta.total })
}

/** @param {State} state */
function ofRest({ meta }) {
  const count = meta.total - meta.heads.length
  if (!count) return ""
  const value = formatNumber(meta.most_left, "percent", meta.texts)
  return count === 1 ? fill(meta.texts.rest_one, { value }) : fill(meta.texts.rest, { count, value })
}

/** @param {State} state */
function choose(state, row, wait) {
  if (!mayChoose(state)) return
  const head = state.meta.heads[row]
  Object.assign(state, { selected: head, focused: row })
  chosen(state, "selected", head)
  draw(state)
  const button = /** @type {any} */ (state.list.children[row])
  button.focus({ preventScroll: true })
  if (!wait) bringIntoView(partOf(state.meta.shows)) // arrow keys browse: do not scroll away from the list
  tell(state, "head", head, wait)
}

/** @param {State} state */
function onKey(state, event) {
  const row = Number(closest(event, "button")?.dataset.row ?? NaN)
  if (!Number.isInteger(row) || !plainKey(event)) return
  const last = state.meta.heads.length - 1
  const moves = { ArrowUp: row - 1, ArrowDown: row + 1, Home: 0, End: last, Enter: row, " ": row }
  if (!(event.key in moves)) return
  event.preventDefault() // Enter and Space too: the button's own click would send the head a second time
  choose(state, clamp(moves[event.key], 0, last), event.key === "Enter" || event.key === " " ? 0 : SEND_AFTER)
}

// Show the head that another user opened in the same list.
/** @type {(state: State, told: { of: string, chosen: [number, number] }) => void} */
function follow(state, told) {
  if (told.of !== String(state.meta.heads)) return
  state.selected = told.chosen
  chosen(state, "selected", told.chosen)
  draw(state)
}
