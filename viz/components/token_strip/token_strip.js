import { chosen, forget, reconcile } from "../shared/choice.js"
import { closest, element, focusedBeside } from "../shared/dom.js"
import { mayChoose, pointed, scrolledByKeys } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { hearRows, rowPointed } from "../shared/row.js"
import { markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { css, inkOn, rampColor, readTheme } from "../shared/theme.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
import { chipNodes, step } from "./moves.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const DRAWN_CHIPS = 1500 // a longer text is drawn as a window of this many chips, with a button at each cut end
const SEND_AFTER = 150 // milliseconds by which arrow keys are debounced

const DEEPEST_TINT = 0.45 // the label must stay readable on the tint

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".token-strip", { create, receive, draw, follow })
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  if (state.meta && !sameText(meta, state.meta)) for (const name of ["selected", "looked_at"]) forget(state, name)
  if (state.hovered !== null && state.hovered >= meta.labels.length) state.hovered = null
  if (meta.selected !== state.meta?.selected || (state.row ?? 0) >= (arrays.rows?.shape[0] ?? 0)) state.row = null
  Object.assign(state, { meta, arrays })
  const before = state.selected
  state.selected = reconcile(state, "selected", meta.selected)
  if (state.selected !== before) state.reveal = state.inSight = true
  state.lookedAt = reconcile(state, "looked_at", meta.looked_at)
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
function create(root, signal) {
  const box = element("div", { className: "chips", role: "listbox", "aria-orientation": "horizontal" })
  const note = element("p", { className: "note" })
  root.append(box, note)
  const state = /** @type {any} */ ({
    box,
    note,
    meta: null,
    selected: null,
    lookedAt: null,
    focused: null, // the chip with the keyboard focus
    hovered: null, // the chip under the pointer
    row: null, // the chip whose row is pointed at in another figure
    lit: null, // the chip of the key that is pointed at there
    start: 0, // the first chip of the drawn window
    inSight: true, // keep the selected chip inside the window; false once the reader has moved the window
    reveal: true, // scroll to the selected chip at the next draw
    drawnText: null,
  })
  box.addEventListener("click", (event) => onClick(state, event))
  for (const name of ["pointerover", "pointerleave"]) box.addEventListener(name, (event) => setHover(state, event))
  box.addEventListener("keydown", (event) => onKey(state, event))
  hearRows(state, signal, (at) => {
    light(state, at)
    showRow(state, at)
  })
  return state
}

const sameText = (a, b) => a.labels.length === b.labels.length && a.labels.every((label, i) => label === b.labels[i])

// The chip that contains a token position, or -1, found by binary search in the ascending positions.
function chipAt({ arrays: { positions, counts } }, position) {
  if (position === null || position === undefined) return -1
  let [low, high] = [0, positions.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (position < positions[middle]) high = middle - 1
    else if (position >= positions[middle] + counts[middle]) low = middle + 1
    else return middle
  }
  return -1
}

const lastToken = ({ arrays }, chip) => arrays.positions[chip] + arrays.counts[chip] - 1

// ---- drawing --------------------------------------------------------------------------------------------------------

// Chips are rebuilt only when the text or the window changed; a new selection or metric only restyles them.
/** @param {State} state */
function draw(state) {
  const { root, meta, arrays, box } = state
  const theme = readTheme(root, meta.palette)
  const n = meta.labels.length
  const pinned = chipAt(state, state.selected)
  if (n <= DRAWN_CHIPS) state.start = 0
  else if (state.inSight && pinned >= 0 && !inWindow(state, pinned)) state.start = pinned - (DRAWN_CHIPS >> 1)
  state.start = clamp(state.start, 0, Math.max(0, n - DRAWN_CHIPS))
  const text = JSON.stringify([state.start, meta.labels, meta.parts, meta.written, [...arrays.positions], [...arrays.special], meta.texts])
  if (text !== state.drawnText) {
    const refocus = state.box.contains(focusedBeside(root))
    build(state)
    Object.assign(state, { drawnText: text, reveal: true })
    if (refocus) focusChip(state, inWindow(state, pinned) ? pinned : state.start)
  }
  const looked = chipAt(state, state.lookedAt)
  state.shown = rowShown(state, pinned)
  const current = state.focused ?? (inWindow(state, pinned) ? pinned : state.start)
  for (const [chip, node] of chipNodes(state)) style(state, theme, node, chip, { pinned, looked, current })
  box.setAttribute("aria-label", meta.texts.label ?? "")
  state.note.textContent = meaning(state, pinned, looked)
  root.classList.toggle("with-bars", Boolean(arrays.bars))
  root.dataset.chips = String(n)
  root.dataset.selected = state.selected === null ? "" : String(state.selected)
  root.dataset.lookedAt = state.lookedAt === null ? "" : String(state.lookedAt)
  if (state.reveal) reveal(state, pinned)
  scrolledByKeys(state.box, state)
  state.reveal = false
  markPainted(root)
  showHovered(state)
}

// A line that explains the colours of the chips; empty if there are none.
/** @type {(state: State, pinned: number, looked: number) => string} */
function meaning({ meta: { texts, labels, both, bars_said }, arrays, shown }, pinned, looked) {
  const told = arrays.metric.some(Number.isFinite) ? texts.shade : ""
  const shade = shown === PAGES ? told : shown === null ? "" : fill(texts.row, { token: isolate(labels[shown]) })
  const bars = arrays.bars ? bars_said : ""
  const frames = [pinned >= 0 ? texts.looks : "", looked >= 0 ? texts.looked : ""]
  const shift = both && pinned >= 0 && looked < 0 && matchMedia("(hover: hover)").matches ? texts.shift : ""
  const said = [shade, bars, ...frames, shift].filter(Boolean)
  const signs = [labels.some((label) => label.startsWith("·")) ? texts.space : "", labels.some((label) => label.includes("␣")) ? texts.lone : ""]
  return (said.length ? [...said, ...signs].filter(Boolean) : []).join(" · ")
}

/** @param {State} state */
function showHovered(state) {
  const { box, meta, selected, hovered, inSight, start } = state
  box.querySelector(".pointed")?.classList.remove("pointed")
  box.querySelector(`[data-chip="${hovered ?? state.row}"]`)?.classList.add("pointed")
  pointed(state, { chips: meta.labels.length, selected, hovered, row: state.row, start: inSight ? null : start })
}

// The chip whose row tints the others: the one pointed at in another figure, or that of the selected token. null: there
// is no such row. PAGES: use the tints from the page, which are those of the selected token that it knows.
const PAGES = -1

/** @type {(state: State, pinned: number) => number | null} */
function rowShown(state, pinned) {
  const { arrays, meta, row, selected } = state
  if (!arrays.rows || (row === null && selected === meta.selected)) return PAGES
  return row ?? (pinned >= 0 ? pinned : null)
}

/** @type {(state: State, chip: number) => number} */
function tintOf({ arrays, shown }, chip) {
  if (shown === PAGES || !arrays.rows) return arrays.metric[chip]
  return shown === null ? NaN : arrays.rows[shown * arrays.rows.shape[1] + chip]
}

// Show the row of the open head that is pointed at in another figure: the row of a token, or a row by its index if that
// figure has as many queries.
/** @type {(state: State, at: import("../shared/row.js").PointedRow) => void} */
function showRow(state, { token, row, of }) {
  const { meta, arrays } = state
  if (!arrays?.rows) return
  const looking = arrays.positions.length ? lastToken(state, arrays.positions.length - 1) + 1 - meta.written : 0
  const position = token ?? (row !== null && of === looking ? meta.written + row : null)
  const chip = position === null ? null : chipAt(state, position)
  if (chip === state.row || chip === -1) return
  state.row = chip
  draw(state)
}

// Highlight the key that is pointed at in another figure, unless its chip has another label because it has several
// tokens.
/** @type {(state: State, at: import("../shared/row.js").PointedRow) => void} */
function light(state, { key }) {
  const chip = chipAt(state, key?.[0])
  state.lit = key && state.meta.labels[chip] === key[1] ? chip : null
  state.box.querySelector(".lit")?.classList.remove("lit")
  if (state.lit !== null) state.box.querySelector(`[data-chip="${state.lit}"]`)?.classList.add("lit")
}

const inWindow = (state, chip) => chip >= state.start && chip < state.start + DRAWN_CHIPS

/** @param {State} state */
function build(state) {
  const n = state.meta.labels.length
  const end = Math.min(n, state.start + DRAWN_CHIPS)
  const nodes = []
  if (state.start > 0) nodes.push(moreButton(state, "earlier", state.start))
  const { meta, arrays } = state
  const side = (name) => element("span", { className: "side", "aria-hidden": "true", textContent: meta.texts[name] })
  if (meta.written && arrays.positions[state.start] < meta.written) nodes.push(side("read"))
  for (let chip = state.start; chip < end; chip++) {
    if (meta.written && arrays.positions[chip] === meta.written) nodes.push(element("span", { className: "turn", "aria-hidden": "true" }), side("written"))
    nodes.push(chipNode(state, chip))
  }
  if (end < n) nodes.push(moreButton(state, "later", n - end))
  state.box.replaceChildren(...nodes)
  state.focused = null
}

/** @param {State} state */
function moreButton({ meta }, side, count) {
  return element("button", { className: "more", type: "button", "data-side": side, textContent: fill(meta.texts[side], { count }) })
}

/** @param {State} state */
function chipNode(state, chip) {
  const { meta, arrays } = state
  const [label, position, count] = [meta.labels[chip], arrays.positions[chip], arrays.counts[chip]]
  const place = count > 1 ? `${position}–${position + count - 1}` : `${position}`
  const node = element(
    "button",
    { className: "chip", type: "button", role: "option", "data-chip": chip, "data-position": position },
    element("span", { className: "label", textContent: label }),
    element("span", { className: "place", textContent: place }),
  )
  if (count > 1) node.append(element("span", { className: "count", "aria-hidden": "true", textContent: String(count) }))
  node.classList.toggle("special", Boolean(arrays.special[chip]))
  return node
}

function style(state, theme, node, chip, { pinned, looked, current }) {
  const value = tintOf(state, chip)
  const tinted = Number.isFinite(value)
  const color = rampColor(theme.sequential, DEEPEST_TINT * clamp(value, 0, 1))
  node.style.setProperty("--tint", tinted ? css(color) : "")
  node.style.setProperty("--ink", tinted ? css(inkOn(color)) : "")
  node.classList.toggle("tinted", tinted)
  const bar = state.arrays.bars?.[chip]
  node.classList.toggle("barred", Number.isFinite(bar))
  node.style.setProperty("--bar", Number.isFinite(bar) ? String(clamp(bar, 0, 1)) : "")
  node.classList.toggle("selected", chip === pinned)
  node.classList.toggle("looked-at", chip === looked)
  node.setAttribute("aria-selected", String(chip === pinned))
  node.tabIndex = chip === current ? 0 : -1
  node.disabled = !mayChoose(state)
  const words = describe(state, chip)
  if (node.title !== words) node.title = words // the chip's text is its accessible name, the title its description
}

/** @param {State} state */
function describe(state, chip) {
  const { meta, arrays, shown } = state
  const { texts } = meta
  const lines = [fill(texts.chip, { label: isolate(meta.labels[chip]), position: arrays.positions[chip] })]
  if (arrays.counts[chip] > 1) {
    const parts = meta.parts[chip].map(isolate).join(" ")
    lines.push(fill(texts.parts, { count: arrays.counts[chip], parts }))
  }
  const words = lines.join("\n")
  const share = tintOf(state, chip)
  const inRow = shown === null ? "" : Number.isFinite(share) ? formatNumber(share, "percent", texts) : texts.masked
  const value = shown === PAGES ? meta.values[chip] : inRow
  const said = value ? fill(texts.value, { label: words, value }) : words
  const bar = meta.bar_words[chip]
  return bar ? fill(texts.value, { label: said, value: bar }) : said
}

// Scroll a chip's line to the middle if it is not fully visible. scrollIntoView would scroll the whole page.
function reveal({ box }, chip) {
  const node = box.querySelector(`[data-chip="${chip}"]`)
  if (!node) return
  const frame = box.getBoundingClientRect()
  const { top, bottom } = node.getBoundingClientRect()
  const hidden = top < frame.top || bottom > frame.bottom
  if (hidden) box.scrollTop += (top + bottom) / 2 - (frame.top + frame.bottom) / 2
}

// ---- choosing -------------------------------------------------------------------------------------------------------

// Whether choosing this position sets the key; same as side_of in analysis/joined.py.
/** @type {(meta: Meta, position: number | null) => boolean} */
function setsKey({ written, sets }, position) {
  if (position === null) return false
  return written ? position < written : sets === "key"
}

function choose(state, position, { delay = 0, shift = false } = {}) {
  if (!mayChoose(state)) return
  if (shift && state.meta.both && position !== null && state.selected !== null && !setsKey(state.meta, position)) {
    state.lookedAt = position
    chosen(state, "looked_at", position)
    draw(state)
    return tell(state, "key", position)
  }
  state.row = null
  if (setsKey(state.meta, position)) {
    state.lookedAt = position
    chosen(state, "looked_at", position)
  } else {
    Object.assign(state, { selected: position, inSight: true, reveal: true })
    chosen(state, "selected", position)
  }
  draw(state)
  tell(state, "token", position, delay)
}

// Show the token that another user chose in the same text, the chip under their pointer, and their window.
/** @type {(state: State, told: { chips: number, selected: number | null, hovered: number | null, row: number | null, start: number | null }) => void} */
function follow(state, { chips, selected, hovered, row, start }) {
  if (chips !== state.meta.labels.length) return
  const shows = { selected, hovered, row, inSight: start === null, start: start ?? state.start, reveal: selected !== state.selected }
  Object.assign(state, shows)
  chosen(state, "selected", selected)
  draw(state)
  if (hovered !== null) reveal(state, hovered)
}

/** @type {(state: State, event: any) => void} */
function setHover(state, event) {
  const chip = event.type === "pointerleave" || event.pointerType === "touch" ? undefined : closest(event, ".chip")?.dataset.chip
  const hovered = chip === undefined ? null : Number(chip)
  if (hovered === state.hovered) return
  state.hovered = hovered
  const { meta, arrays } = state
  rowPointed(state, { row: null, key: hovered === null || arrays.counts[hovered] > 1 ? null : [arrays.positions[hovered], meta.labels[hovered]] })
  showHovered(state)
}

function onClick(state, event) {
  const node = closest(event, "button")
  if (!node) return
  if (node.dataset.side) {
    const earlier = node.dataset.side === "earlier"
    state.start += (earlier ? -1 : 1) * (DRAWN_CHIPS >> 1)
    Object.assign(state, { inSight: false, focused: null })
    draw(state)
    state.box.scrollTop = state.box.scrollHeight / 2 // continue where the last window ended
  } else {
    const chip = Number(node.dataset.chip)
    choose(state, lastToken(state, chip), { shift: event.shiftKey })
    focusChip(state, chip)
  }
}

function focusChip(state, chip) {
  for (const [other, node] of chipNodes(state)) node.tabIndex = other === chip ? 0 : -1
  state.focused = chip
  state.box.querySelector(`[data-chip="${chip}"]`)?.focus({ preventScroll: true })
}

function onKey(state, event) {
  if (!mayChoose(state)) return
  const chip = Number(event.target.dataset?.chip)
  if (event.key === "Escape") {
    event.preventDefault()
    choose(state, null)
    return
  }
  if (!Number.isInteger(chip) || !plainKey(event)) return
  const target = step(state, chip, event.key)
  if (target === null) return
  event.preventDefault() // Enter and Space too: the button's own click would send the position a second time
  const keys = event.key === "Enter" || event.key === " "
  choose(state, lastToken(state, target), { delay: keys ? 0 : SEND_AFTER, shift: keys && event.shiftKey })
  focusChip(state, target)
}
