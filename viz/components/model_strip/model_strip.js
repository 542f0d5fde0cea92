import { measuring } from "../shared/canvas.js"
import { adopt, chosen, reconcile } from "../shared/choice.js"
import { closest, element, svg } from "../shared/dom.js"
import { POINTED, pointed } from "../shared/follow.js"
import { pointIn } from "../shared/room.js"
import { announcer, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, wholeNumber } from "../shared/words.js"
import { drawStrip, partHeight } from "./drawing.js"
import { beside, kindOf, layOutStrip, placeAt, rowOf } from "./layout.js"
import { drawPanel } from "./panel.js"
import { nameOf } from "./words.js"
/** @import { Host } from "../shared/types" */
/** @import { Meta, Place, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".model-strip", { create, receive, draw })
}

const NARROW_STRIP = 560 // below this width the strip is a collapsed line
const LINE = 28 // height of that line
const RESTS = 150 // milliseconds by which arrow keys are debounced
const FIRST_SHOWN = 120 // milliseconds: a choice is sent to the host after at most this wait for its preview

/**
 * @param {any} root
 * @param {AbortSignal} signal
 */
function create(root, signal) {
  const state = /** @type {any} */ ({
    root, hovered: null, opened: false,
    picture: svg("svg", { tabindex: 0, role: "img" }),
    name: element("output", { className: "name" }),
    line: element("button", { type: "button", className: "open-line", "aria-expanded": "false" }),
    links: element("div", { className: "links", role: "toolbar" }),
    panel: element("div", { className: "panel", hidden: true }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  })
  state.announce = announcer(state.live)
  root.replaceChildren(element("div", { className: "row" }, state.picture, state.links, state.name, state.line), state.panel, state.live)
  listen(state)
  document.addEventListener(POINTED, (event) => hear(state, event), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.meta = meta
  state.place = /** @type {Place} */ (reconcile(state, "place", meta.open))
  if (!exists(state, state.place)) state.place = meta.open // the place was in another model
  state.hovered = null
}

/** @type {(state: { meta: Meta }) => boolean} */
const everyLayer = ({ meta }) => meta.picks === "layers"

/** @type {(state: State, place: Place) => boolean} */
function exists({ meta }, [layer, head, attention]) {
  const row = meta.rows.find((one) => one.attentions.includes(attention))
  if (!row || layer >= row.layers.length) return false
  const heads = kindOf(row, layer).attentions[row.attentions.indexOf(attention)]?.[0] ?? 0
  return head < heads || everyLayer({ meta })
}

/** @param {State} state */
function draw(state) {
  const { root, meta, picture, line, panel } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  state.theme = readTheme(root)
  state.narrow = width < NARROW_STRIP
  root.classList.toggle("narrow", state.narrow)
  root.classList.toggle("head-unlit", !meta.lit.includes("head"))
  const pen = measuring(`12px ${state.theme.font}`)
  const widthOf = (name) => (state.narrow ? 10 : Math.ceil(pen.measureText(meta.texts[name] ?? name).width) + 18)
  const reserved = Math.ceil(pen.measureText(longestName(state)).width) + (state.narrow ? 40 : 22)
  state.layout = layOutStrip(meta.rows, state.place, Math.max(60, width - reserved), widthOf)
  const room = state.layout.width
  const scale = state.narrow ? LINE / state.layout.height : 1
  const height = state.narrow ? LINE : state.layout.height
  picture.setAttribute("viewBox", `0 0 ${room} ${state.layout.height}`)
  picture.setAttribute("preserveAspectRatio", "none")
  picture.setAttribute("width", String(room))
  picture.setAttribute("height", String(height))
  state.scale = scale
  const summary = meta.picks === "heads" ? meta.texts.summary_elsewhere : meta.texts.summary
  const layers = meta.rows.map((row) => wholeNumber(row.layers.length)).join(" + ")
  picture.setAttribute("aria-label", fill(summary, { layers, name: nameOf(state, state.place) }))
  if (state.narrow) picture.removeAttribute("tabindex")
  else picture.setAttribute("tabindex", "0")
  picture.setAttribute("aria-hidden", String(state.narrow)) // the line has the same text
  line.hidden = !state.narrow
  line.setAttribute("aria-expanded", String(state.narrow && state.opened))
  line.setAttribute("aria-label", fill(meta.texts.choose, { name: nameOf(state, state.place) }))
  panel.hidden = !(state.narrow && state.opened)
  if (!panel.hidden) {
    const held = /** @type {any} */ (panel.getRootNode()).activeElement
    const kind = panel.contains(held) ? (held.dataset.layer === undefined ? "head" : "layer") : ""
    panel.replaceChildren(...drawPanel(state, (place) => choose(state, place, 0)))
    if (kind) panel.querySelector(`[data-${kind}][aria-checked="true"]`)?.focus({ preventScroll: true })
  }
  drawLinks(state)
  paintStrip(state)
}

// The longest name of a head in the open layer, in the widest digits, so that the text beside the strip never moves it.
/** @type {(state: State) => string} */
function longestName(state) {
  const [layer, , attention] = state.meta.open
  const row = state.meta.rows[rowOf(state.meta.rows, attention)]
  const [count] = kindOf(row, layer).attentions[Math.max(0, row.attentions.indexOf(attention))] ?? [1]
  const names = Array.from({ length: count }, (_, head) => nameOf(state, [layer, head, attention]))
  return names.reduce((long, name) => (name.length > long.length ? name : long), "L00H00").replace(/\d/g, "0")
}

// Draw buttons over the parts that have their own page.
/** @param {State} state */
function drawLinks({ meta, layout, links, narrow }) {
  links.hidden = narrow
  const parts = layout.rows.flatMap((row) => row.parts.map((part) => ({ ...part, top: row.top + 1 + (row.height - partHeight(meta)) / 2 })))
  const wanted = parts.filter(({ name }) => meta.links.includes(name))
  const made = wanted.map((part) => `${part.name} ${part.left} ${part.top} ${part.width} ${meta.texts[part.name]}`).join()
  if (links.dataset.made === made) return
  links.dataset.made = made
  links.setAttribute("aria-label", meta.texts.pages ?? "")
  links.replaceChildren(...wanted.map(({ name, left, top, width }, i) => {
    const label = fill(meta.texts.opens, { part: meta.texts[name] ?? name })
    const button = element("button", { type: "button", "data-part": name, "aria-label": label, title: label, tabIndex: i ? -1 : 0 })
    Object.assign(button.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${partHeight(meta)}px` })
    return button
  }))
}

/** @param {State} state */
function paintStrip(state) {
  const { picture, meta, place, hovered, name, line } = state
  picture.replaceChildren(...drawStrip(state))
  const shown = hovered ?? place
  const words = nameOf(state, shown)
  name.textContent = hovered && meta.picks === "heads" ? fill(meta.texts.elsewhere, { name: words }) : words
  name.hidden = state.narrow
  line.textContent = nameOf(state, place)
  const marked = hovered && picture.querySelector(`[data-layer="${hovered[0]}"]`)
  if (marked) marked.classList.add("hovered")
  Object.assign(state.root.dataset, { picks: meta.picks, place: place.slice(0, 2).join(), hovered: hovered ? hovered.slice(0, 2).join() : "" })
  markPainted(state.root)
}

// Show the head that another figure of the page opens or points at.
/** @type {(state: State, event: any) => void} */
function hear(state, event) {
  const [figure] = event.composedPath()
  if (figure === state.root || !state.meta || !figure.matches?.(".head-grid, .head-bars")) return
  const { chosen: other, hovered } = event.detail
  const at = (/** @type {number[] | null} */ cell) => cell && /** @type {Place} */ ([cell[0], cell[1], state.meta.open[2]])
  const [opens, points] = [at(other), at(hovered)]
  if (opens && exists(state, opens) && String(opens) !== String(state.place)) {
    state.place = opens
    adopt(state, "place", opens)
    state.hovered = null
    return draw(state)
  }
  const next = points && exists(state, points) ? points : null
  if (String(next) === String(state.hovered)) return
  state.hovered = next
  paintStrip(state)
}

// ---- what the reader does -------------------------------------------------------------------------------------------

// Draw the choice at once and send it to the host after `wait` milliseconds.
/** @type {(state: State, place: Place, wait: number) => void} */
function choose(state, place, wait) {
  state.place = place
  state.hovered = null
  chosen(state, "place", place)
  const elsewhere = state.meta.picks === "heads"
  const first = elsewhere ? undefined : pointed(state, { chosen: place.slice(0, 2), hovered: null })
  state.announce(nameOf(state, place))
  draw(state)
  if (!elsewhere || !wait) tellAfterShown(state, first, place, wait) // on a page without heads, arrow keys only browse
}

// Wait briefly for the preview before sending the choice: the page run that follows keeps the browser busy.
/** @type {(state: State, first: Promise<void> | undefined, place: Place, wait: number) => Promise<void>} */
async function tellAfterShown(state, first, place, wait) {
  const mine = (state.choosing = {})
  if (first && !wait) await Promise.race([first, new Promise((pass) => setTimeout(pass, FIRST_SHOWN))])
  if (state.choosing === mine && state.root.isConnected) tell(state, "head", place, wait)
}

/** @param {State} state */
function listen(state) {
  const { picture, links, line } = state
  const under = (event) => {
    const { x, y } = pointIn(event, picture)
    return placeAt(state.meta.rows, state.layout, state.place, x, y / state.scale, everyLayer(state))
  }
  const hover = (found) => {
    if (String(found) === String(state.hovered)) return
    state.hovered = found
    picture.style.cursor = found ? "pointer" : "default"
    paintStrip(state)
    pointed(state, { chosen: state.place.slice(0, 2), hovered: found && found.slice(0, 2) })
  }
  picture.addEventListener("pointermove", (event) => event.pointerType !== "touch" && !state.narrow && hover(under(event)))
  picture.addEventListener("pointerleave", () => hover(null))
  picture.addEventListener("click", (event) => {
    if (state.narrow) return toggle(state)
    const found = under(event)
    if (found) choose(state, found, 0)
  })
  picture.addEventListener("keydown", (event) => onStripKey(state, event))
  line.addEventListener("click", () => toggle(state))
  state.panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return
    toggle(state)
    line.focus()
  })
  links.addEventListener("click", (event) => {
    const part = closest(event, "[data-part]")?.dataset.part
    if (part) tell(state, "part", part)
  })
  links.addEventListener("keydown", (event) => onLinkKey(links, event))
}

// The links are one Tab stop; the left and right arrow keys move between them.
/** @type {(links: HTMLElement, event: KeyboardEvent) => void} */
function onLinkKey(links, event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  const buttons = /** @type {HTMLElement[]} */ ([...links.children])
  const next = step && plainKey(event) && buttons[buttons.findIndex((one) => one.tabIndex === 0) + step]
  if (!next) return
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1
  next.focus()
  event.preventDefault()
}

/** @param {State} state */
function toggle(state) {
  state.opened = !state.opened
  draw(state)
}

/** @type {(state: State, event: KeyboardEvent) => void} */
function onStripKey(state, event) {
  if (!plainKey(event)) return
  /** @type {Record<string, { layers?: number, heads?: number }>} */
  const steps = { ArrowUp: { layers: -1 }, ArrowDown: { layers: 1 }, ArrowLeft: { heads: -1 }, ArrowRight: { heads: 1 } }
  const step = steps[event.key]
  if (event.key === "Enter") {
    if (state.meta.picks === "heads") choose(state, state.place, 0)
  }
  else if (step) {
    const next = beside(state.meta.rows, state.place, step, everyLayer(state))
    if (next) choose(state, next, RESTS)
  } else return
  event.preventDefault()
}
