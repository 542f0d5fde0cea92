import { chosen, forget, reconcile } from "../shared/choice.js"
import { closest, element, svg } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { hearRows, rowOfToken, rowPointed } from "../shared/row.js"
import { announcer, later, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { css, mix, readable, readTheme } from "../shared/theme.js"
import { fill, formatNumber, formatShort, isolate } from "../shared/words.js"
import { curves, drawLegend, drawRows, drawTitles, layout, middle } from "./drawing.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, Row, State } from "./types" */

const [OWN_TINT, LOOKED_TINT] = [0.14, 0.3] // of the active row, and the maximum of a row connected to it
const SEND_AFTER = 150 // milliseconds by which arrow keys are debounced

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".token-lines", { create, receive, draw, follow })
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const before = state.meta
  const sameRows = before && meta.query_offset === before.query_offset && meta.queries.length === before.queries.length
  if (!sameRows) for (const name of ["pinned", "lookedAt"]) forget(state, name)
  if (!sameRows || meta.keys.length !== before.keys.length) {
    state.hover = state.held = null
    state.lit = { query: null, key: null }
  }
  Object.assign(state, { meta, weights: arrays.weights })
  const pinned = state.pinned
  state.pinned = reconcile(state, "pinned", meta.selected)
  state.lookedAt = reconcile(state, "lookedAt", meta.looked_at)
  if (state.pinned !== pinned) state.reveal = true
}

// `hover` and `held` are {side: "query" | "key", row}: the row under the pointer or keyboard, and the tapped key (a
// touch screen has no hover). `pinned`, a query, and `lookedAt`, a key, are positions that the server also knows.
/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
function create(root, signal) {
  const titles = element("div", { className: "titles", "aria-hidden": "true" })
  const scroller = element("div", { className: "scroller", tabIndex: 0, role: "img" })
  const legend = element("div", { className: "legend" })
  const spoken = element("div", { className: "spoken", "aria-live": "polite" })
  root.append(titles, scroller, legend, spoken)
  const state = /** @type {any} */ ({ titles, scroller, legend, meta: null, pinned: null, lookedAt: null, hover: null, held: null, lit: { query: null, key: null }, reveal: true })
  state.announce = announcer(spoken)
  hearRows(state, signal, (at) => light(state, at))
  scroller.addEventListener("pointerover", (event) => onPointer(state, event))
  scroller.addEventListener("pointerleave", () => setHover(state, null))
  scroller.addEventListener("click", (event) => onClick(state, event))
  scroller.addEventListener("keydown", (event) => onKey(state, event))
  scroller.addEventListener("blur", () => setHover(state, null))
  return state
}

/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  const theme = readTheme(root, meta.palette)
  const at = layout(state, theme)
  const colors = [theme.primary, theme.compare] // for the first and the second head
  Object.assign(state, { theme, at, colors })
  drawRows(state)
  state.all.replaceChildren(...curves(state, () => true))
  state.scroller.style.maxHeight = `${inRoom(meta.max_height) - 52}px`
  state.scroller.setAttribute("aria-label", meta.texts.summary ?? "")
  drawTitles(state)
  drawLegend(state)
  paintActive(state)
}

// ---- the active row -------------------------------------------------------------------------------------------------

// The active row: the hovered row, else a tapped key, else a query pointed at in another figure, else the pinned query;
// null for the whole picture.
/** @param {State} state */
function activeRow({ hover, held, pinned, meta, lit }) {
  if (hover ?? held) return hover ?? held
  if (lit.query !== null) return { side: "query", row: lit.query }
  const row = pinned === null ? -1 : pinned - meta.query_offset
  return row >= 0 && row < meta.queries.length ? { side: "query", row } : null
}

// Highlight what is pointed at in other figures of the same text.
/** @type {(state: State, at: import("../shared/row.js").PointedRow) => void} */
function light(state, at) {
  const { queries, keys, query_offset: q0, key_offset: k0 } = state.meta
  const lit = { query: rowOfToken(at.query, queries, q0), key: rowOfToken(at.key, keys, k0) }
  if (JSON.stringify(lit) === JSON.stringify(state.lit)) return
  state.lit = lit
  later(state, () => paintActive(state))
}

const weightAt = ({ weights }, head, query, key) => weights[(head * weights.shape[1] + query) * weights.shape[2] + key]

/** @param {State} state */
function paintActive(state) {
  const { root, meta, at } = state
  const active = activeRow(state)
  state.all.classList.toggle("dimmed", active !== null)
  const byQuery = active?.side === "query"
  const wanted = (query, key) => (byQuery ? query : key) === active?.row
  state.active.replaceChildren(...(active ? curves(state, wanted, 0.25) : []))
  for (const node of state.scroller.querySelectorAll(".row")) paintRow(state, node, active)
  if (state.reveal && active) reveal(state, active.row * at.row)
  state.reveal = false
  const shown = active && `${active.side} ${active.row + (byQuery ? meta.query_offset : meta.key_offset)}`
  root.dataset.active = shown ?? ""
  root.dataset.pinned = state.pinned === null ? "" : String(state.pinned)
  root.dataset.cell = [state.pinned, state.lookedAt].join()
  root.dataset.lines = String(active ? state.active.childElementCount : state.all.childElementCount)
  if (active && state.hover) state.announce(sentence(state, active))
  markPainted(root)
  const { pinned, lookedAt, hover, held } = state
  pointed(state, { of: sizeOf(state), pinned, lookedAt, hover, held })
}

const sizeOf = ({ meta }) => [meta.query_offset, meta.queries.length, meta.keys.length].join()

// Show another user's active row in the same text.
/** @param {State} state */
function follow(state, { of, ...at }) {
  if (of !== sizeOf(state)) return
  Object.assign(state, at, { reveal: true })
  for (const name of ["pinned", "lookedAt"]) chosen(state, name, at[name])
  paintActive(state)
}

/** @param {State} state */
function paintRow(state, node, active) {
  const { meta, at, theme } = state
  const { side } = node.dataset
  const row = Number(node.dataset.row)
  const own = active?.side === side && active.row === row
  const other = active !== null && active.side !== side
  const weights = other ? meta.head_labels.map((_, head) => weightOf(state, head, side, row, active.row)) : []
  const most = Math.max(0, ...weights.filter(Number.isFinite))
  const tint = node.querySelector(".tint")
  const color = theme[own ? side : side === "query" ? "query" : "key"]
  const deep = own ? OWN_TINT : LOOKED_TINT * most
  tint.setAttribute("fill", deep > 0 ? css(color, deep) : "none")
  node.classList.toggle("active", own)
  node.classList.toggle("lit", side === "key" && row === state.lit.key)
  node.classList.toggle("faded", other && !(most >= meta.threshold))
  const pinned = Number(node.dataset.position) === (side === "query" ? state.pinned : state.lookedAt)
  node.classList.toggle("pinned", pinned)
  const named = side === "query" ? theme.query : theme.key
  const label = pinned || (own && side === "key") ? css(readable(named, mix(theme.background, color, deep), theme.text, theme.least)) : ""
  node.querySelector("text:not(.place)").style.fill = label
  for (const amount of node.querySelectorAll(".amount")) amount.remove()
  node.querySelector(".place").toggleAttribute("hidden", side === "key" && at.compact && Number.isFinite(weights[0]))
  if (side === "key" && other) node.append(...weights.map((weight, head) => amountNode(state, row, weight, head)))
}

const weightOf = (state, head, side, row, other) =>
  side === "key" ? weightAt(state, head, other, row) : weightAt(state, head, row, other)

/** @param {State} state */
function amountNode({ at, meta, colors, theme }, row, weight, head) {
  const x = at.width - at.column * (meta.head_labels.length - head - 1) - 2
  const node = svg("text", { class: "amount", x, y: middle(at, row) + 4.5, "text-anchor": "end" })
  node.style.fill = css(weight >= meta.threshold ? colors[head] : theme.quiet)
  node.textContent = Number.isFinite(weight) ? shortPercent(weight, at.compact, meta.texts) : ""
  return node
}

// A percentage that fits its column; a weight below its last digit is written as "< …".
function shortPercent(weight, compact, texts) {
  const least = compact ? 0.01 : 0.001
  if (weight > 0 && weight < least / 2) return fill(texts.percent, { number: `< ${100 * least}` })
  return compact ? fill(texts.percent, { number: formatShort(weight, "percent") }) : formatNumber(weight, "percent", texts)
}

// A sentence for the first head: the key that the active query attends to most, or the query that attends most to the
// active key.
/** @param {State} state */
function sentence(state, { side, row }) {
  const { queries, keys, texts } = state.meta
  const others = side === "query" ? keys : queries
  const weight = (other) => (side === "query" ? weightAt(state, 0, row, other) : weightAt(state, 0, other, row))
  const rank = (other) => (Number.isFinite(weight(other)) ? weight(other) : -1)
  const other = others.reduce((best, _, i) => (rank(i) > rank(best) ? i : best), 0)
  const [query, key] = side === "query" ? [row, other] : [other, row]
  const values = { query: isolate(queries[query]), key: isolate(keys[key]), value: formatNumber(weight(other), "percent", texts) }
  return fill(side === "key" ? texts.looked_at : texts.line, values)
}

function reveal({ scroller, at }, top) {
  if (top < scroller.scrollTop) scroller.scrollTop = top - 2 * at.row
  else if (top + at.row > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + 3 * at.row - scroller.clientHeight
}

// ---- pointer and keys -----------------------------------------------------------------------------------------------

function setHover(state, row) {
  if (row?.side === state.hover?.side && row?.row === state.hover?.row) return
  state.hover = row
  const { queries, keys, query_offset: q0, key_offset: k0 } = state.meta
  const named = (side, labels, first) => (row?.side === side ? /** @type {[number, string]} */ ([row.row + first, labels[row.row]]) : null)
  const query = named("query", queries, q0)
  rowPointed(state, { token: query?.[0], row: null, query, key: named("key", keys, k0) })
  paintActive(state)
}

/** @type {(event: Event) => Row | null} */
const rowOf = (event) => {
  const node = closest(event, ".row")
  return node ? { side: node.dataset.side === "query" ? "query" : "key", row: Number(node.dataset.row) } : null
}

function onPointer(state, event) {
  if (event.pointerType !== "touch") setHover(state, rowOf(event)) // touch is handled in onClick
}

/** @param {State} state */
function onClick(state, event) {
  const row = rowOf(event)
  if (!mayChoose(state)) return hold(state, row)
  if (row?.side === "query") return pin(state, row.row + state.meta.query_offset)
  state.held = row && event.pointerType !== "mouse" && !(state.held?.row === row.row) ? row : null
  if (row) pinKey(state, row.row + state.meta.key_offset)
  else paintActive(state)
}

// For followers, a tap makes a row active without choosing it; a second tap releases it.
/** @type {(state: State, row: Row | null) => void} */
function hold(state, row) {
  const again = row?.side === state.held?.side && row?.row === state.held?.row
  Object.assign(state, { held: again ? null : row, hover: null })
  paintActive(state)
}

// Pin a key; pinning it again releases it. The query is sent with it, since it may not have been sent yet.
/** @param {State} state */
function pinKey(state, position, { toggle = true } = {}) {
  state.lookedAt = toggle && position === state.lookedAt ? null : position
  chosen(state, "lookedAt", state.lookedAt)
  tell(state, "cell", [state.pinned, state.lookedAt])
  paintActive(state)
}

// Pin a query; pinning it again releases it. This clears the key, which belonged to the previous query.
function pin(state, position, { toggle = true, delay = 0 } = {}) {
  state.held = null
  state.pinned = toggle && position === state.pinned ? null : position
  state.lookedAt = null
  chosen(state, "pinned", state.pinned)
  chosen(state, "lookedAt", null)
  tell(state, "query", state.pinned, delay)
  paintActive(state)
}

/** @param {State} state */
function onKey(state, event) {
  const { meta } = state
  if (!plainKey(event)) return
  const here = activeRow(state) ?? { side: "query", row: -1 }
  const last = (side) => (side === "query" ? meta.queries : meta.keys).length - 1
  const to = (side, row) => ({ side, row: clamp(row, 0, last(side)) })
  const moves = {
    ArrowUp: () => to(here.side, here.row - 1),
    ArrowDown: () => to(here.side, here.row + 1),
    ArrowLeft: () => to("query", here.row),
    ArrowRight: () => to("key", here.row),
    Home: () => to(here.side, 0),
    End: () => to(here.side, last(here.side)),
  }
  if (event.key in moves) {
    const row = moves[event.key]()
    Object.assign(state, { hover: row, held: null, reveal: true })
    if (mayChoose(state) && row.side === "query" && event.key !== "ArrowLeft") pin(state, row.row + meta.query_offset, { toggle: false, delay: SEND_AFTER })
    else paintActive(state)
  } else if (!mayChoose(state)) {
    if (event.key !== "Escape") return
    setHover(state, null)
  } else if (event.key === "Enter" || event.key === " ") {
    if (here.side === "key") pinKey(state, here.row + meta.key_offset, { toggle: false })
    else if (here.row >= 0) pin(state, here.row + meta.query_offset, { toggle: false })
  } else if (event.key === "Escape") {
    state.hover = null
    pin(state, null, { toggle: false })
  } else return
  event.preventDefault()
}
