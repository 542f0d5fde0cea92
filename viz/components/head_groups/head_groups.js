import { chosen, reconcile } from "../shared/choice.js"
import { closest, element, svg } from "../shared/dom.js"
import { mayChoose, pointed, scrolledByKeys } from "../shared/follow.js"
import { bringIntoView, keepInLine, partOf } from "../shared/in_view.js"
import { clamp } from "../shared/numbers.js"
import { announcer, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { drawPanel, light, smallPicture } from "./drawing.js"
import { readsOf } from "./words.js"
/** @import { Host } from "../shared/types" */
/** @import { Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".head-groups", { create, receive, draw, follow })
}

const NARROW_FIGURES = 560 // below this width the two figures are stacked

function create(root) {
  const state = /** @type {any} */ ({
    root, hovered: null, frame: 0, asking: 0, buttons: [],
    ways: element("div", { className: "ways", role: "radiogroup" }),
    panels: [makePanel(), makePanel()],
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  })
  state.announce = announcer(state.live)
  const figures = element("div", { className: "figures" }, ...state.panels.map((panel) => panel.figure))
  root.replaceChildren(state.ways, figures, state.live)
  for (const panel of state.panels) listen(state, panel)
  state.ways.addEventListener("keydown", (event) => onWayKey(state, event))
  return state
}

function makePanel() {
  const [title, counts] = [element("b"), element("span")]
  const picture = svg("svg", { tabindex: 0, role: "img" })
  const readout = element("div", { className: "readout" })
  const figure = element("figure", {}, element("figcaption", {}, title, " ", counts), picture, readout)
  return { figure, title, counts, picture, readout, kvHeads: 1 }
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.meta = meta
  state.head = reconcile(state, "head", meta.head)
  state.pooled = reconcile(state, "pooled", meta.pooled)
  if (state.head >= meta.n_heads) state.head = meta.head // of another layer or model
  if (!meta.possible.includes(state.pooled)) state.pooled = meta.pooled
  if (state.hovered !== null && state.hovered >= meta.n_heads) state.hovered = null
  makeWays(state)
}

// One button per option; they are only made anew for another model, so that the focus stays where it is.
/** @param {State} state */
function makeWays(state) {
  const { meta, ways } = state
  const made = JSON.stringify([mayChoose(state), meta.n_heads, meta.own, meta.ways, meta.possible, meta.texts.this_model, meta.texts.beyond])
  if (state.made === made) return
  state.made = made
  ways.setAttribute("aria-label", meta.texts.ways)
  state.buttons = meta.ways.map((way) => {
    const own = way.kv_heads === meta.own
    const name = element("b", { textContent: `${way.name} · ${way.kv_heads}` })
    const beyond = !meta.possible.includes(way.kv_heads)
    const why = own ? meta.texts.this_model : beyond ? fill(meta.texts.beyond, { own: meta.own }) : ""
    const note = element("span", { textContent: [why, way.note].filter(Boolean).join(" · ") })
    const button = element("button", { type: "button", role: "radio", "data-kv": way.kv_heads }, smallPicture(state, way.kv_heads), name, note)
    button.disabled = !mayChoose(state)
    if (beyond) {
      button.disabled = true
      button.classList.add("impossible")
      button.title = fill(meta.texts.too_many, { own: meta.own })
    }
    button.addEventListener("click", () => pool(state, way.kv_heads))
    return button
  })
  ways.replaceChildren(...state.buttons)
  state.inSight = ""
}

/** @param {State} state */
function draw(state) {
  const { root, meta, panels } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  state.narrow = width < NARROW_FIGURES
  root.classList.toggle("narrow", state.narrow)
  for (const button of state.buttons) {
    const isChosen = Number(button.dataset.kv) === state.pooled
    button.setAttribute("aria-checked", String(isChosen))
    button.tabIndex = isChosen && mayChoose(state) ? 0 : -1
  }
  const room = state.narrow ? width : (width - 24) / 2
  keepInLine(state, state.ways, state.buttons.find((one) => Number(one.dataset.kv) === state.pooled))
  scrolledByKeys(state.ways, state)
  panels.forEach((panel, i) => drawPanel(state, panel, i === 1, room))
  refresh(state)
}

function refresh(state) {
  for (const panel of state.panels) light(state, panel)
  Object.assign(state.root.dataset, { head: state.head, pooled: state.pooled, hovered: state.hovered ?? "" })
  markPainted(state.root)
  const { head, pooled, hovered } = state
  pointed(state, { of: headsOf(state), head, pooled, hovered })
}

const headsOf = ({ meta }) => [meta.layer, meta.n_heads, meta.own].join()

// The heads that another user looks at in the same layer.
/** @type {(state: State, told: { of: string, head: number, pooled: number, hovered: number | null }) => void} */
function follow(state, { of, head, pooled, hovered }) {
  if (of !== headsOf(state) || !state.meta.possible.includes(pooled)) return
  Object.assign(state, { head, pooled, hovered })
  chosen(state, "head", head)
  chosen(state, "pooled", pooled)
  draw(state)
}

// ---- input ----------------------------------------------------------------------------------------------------------

function pool(state, kvHeads) {
  state.pooled = kvHeads
  chosen(state, "pooled", kvHeads)
  tell(state, "kv_heads", kvHeads)
  draw(state)
}

// Draw the choice at once and tell the host after `wait` milliseconds.
function open(state, head, wait) {
  state.head = head
  state.hovered = null
  chosen(state, "head", head)
  tell(state, "head", head, wait)
  if (!wait) bringIntoView(partOf(state.meta.shows))
  state.announce(readsOf(state, state.pooled, head))
  draw(state)
}

/** @param {State} state */
function listen(state, panel) {
  const { picture } = panel
  const under = (event) => closest(event, "g.head")
  // A key/value head stands for its group: for the open head if that is in it, otherwise for the first.
  const headOf = (node) => {
    const [first, count] = [Number(node.dataset.first), Number(node.dataset.count)]
    return state.head >= first && state.head < first + count ? state.head : first
  }
  const hover = (head) => {
    if (head === state.hovered) return
    state.hovered = head
    if (head !== null) state.announce(readsOf(state, panel.kvHeads, head))
    refresh(state)
  }
  picture.addEventListener("pointermove", (event) => {
    const node = under(event)
    if (event.pointerType !== "touch") hover(node && headOf(node))
  })
  picture.addEventListener("pointerleave", () => hover(null))
  picture.addEventListener("click", (event) => {
    const node = under(event)
    if (!mayChoose(state)) hover(node && headOf(node)) // a finger has no other way to look
    else if (node) open(state, headOf(node), 0)
  })
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!plainKey(event)) return
    if (!mayChoose(state) && event.key !== "Escape") {
      if (!step) return
      hover(clamp((state.hovered ?? state.head) + step, 0, state.meta.n_heads - 1))
    } else if (step) {
      const head = clamp(state.head + step, 0, state.meta.n_heads - 1)
      if (head !== state.head) open(state, head, 150) // a held key asks the host once, when it rests
    } else if (event.key === "Enter") open(state, state.head, 0)
    else if (event.key === "Escape") hover(null)
    else return
    event.preventDefault()
  })
}

function onWayKey(state, event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
  if (!step || !plainKey(event) || !mayChoose(state)) return
  const enabled = state.buttons.filter((button) => !button.disabled)
  const next = enabled[enabled.findIndex((button) => Number(button.dataset.kv) === state.pooled) + step]
  event.preventDefault()
  if (!next) return
  pool(state, Number(next.dataset.kv))
  next.focus()
}
