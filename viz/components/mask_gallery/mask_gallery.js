import { chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose, scrolledByKeys } from "../shared/follow.js"
import { keepInLine } from "../shared/in_view.js"
import { clamp } from "../shared/numbers.js"
import { announcer, later, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { cellAt, layOut, NARROW_VIEW } from "./layout.js"
import { paintLarge, paintSmall } from "./paint.js"
import { beginStroke, endStroke, paintCell, setHidden, toggle } from "./pencil.js"
import { followShown, tellShown } from "./shown.js"
import { cellWords, legendOf, rowWords } from "./words.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".mask-gallery", { create, receive, draw, end: halt, follow })
}

function create(root) {
  const state = {
    root, hovered: null, frame: 0, timer: 0, stroke: null, pencilOn: false, buttons: [],
    list: element("div", { className: "patterns", role: "group" }),
    canvas: element("canvas", { tabIndex: 0, role: "img" }),
    tile: document.createElement("canvas"),
    readout: element("div", { className: "readout" }),
    play: element("button", { type: "button", className: "play" }),
    range: element("input", { type: "range", min: "1", step: "1" }),
    shownWords: element("output"),
    pencil: element("button", { type: "button", className: "pencil", "aria-pressed": "false" }),
    clear: element("button", { type: "button", className: "clear" }),
    legend: element("div", { className: "legend" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  }
  state.reach = element("span", { className: "reach" }, state.play, state.range, state.shownWords)
  state.tools = element("span", { className: "tools" }, state.pencil, state.clear)
  state.controls = element("div", { className: "controls" }, state.reach, state.tools)
  state.large = element("div", { className: "large" }, state.canvas, state.controls, state.readout, state.legend)
  state.announce = announcer(state.live)
  root.replaceChildren(state.list, state.large, state.live)
  listen(state)
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, region: null, distance: null, ...arrays, n: meta.tokens.length })
  const before = state.selected
  state.selected = reconcile(state, "selected", meta.selected)
  state.shown = clamp(reconcile(state, "shown", meta.shown), 1, meta.n_layers)
  state.query = reconcile(state, "query", meta.query)
  if (!state.stroke) state.hidden = new Set(reconcile(state, "hidden", meta.hidden).map(String))
  state.given = new Set(meta.given)
  if (before !== state.selected || state.region) halt(state)
  if (state.hovered && Math.max(...state.hovered) >= state.n) state.hovered = null
  if (state.region || !mayChoose(state)) state.pencilOn = false
  makeButtons(state)
  const { texts } = meta
  state.list.setAttribute("aria-label", texts.patterns)
  state.pencil.textContent = texts.pencil
  state.clear.textContent = texts.clear
  state.range.max = String(meta.n_layers)
  state.range.setAttribute("aria-label", texts.reach)
}

// One button per pattern, kept from call to call so that the focus stays where it is.
/** @param {State} state */
function makeButtons(state) {
  const { meta, list } = state
  if (state.buttons.length !== meta.names.length) {
    state.buttons = meta.names.map((_, i) => {
      const button = element("button", { type: "button" }, element("canvas", { "aria-hidden": "true" }), element("span"))
      button.addEventListener("click", () => select(state, state.meta.names[i]))
      return button
    })
    list.replaceChildren(...state.buttons)
    state.inSight = ""
  }
  state.buttons.forEach((button, i) => {
    button.lastChild.textContent = meta.labels[i]
    button.dataset.name = meta.names[i]
    button.disabled = !mayChoose(state)
  })
}

/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  root.classList.toggle("narrow", width < NARROW_VIEW)
  state.buttons.forEach((button, i) => {
    button.setAttribute("aria-pressed", String(meta.names[i] === state.selected))
    paintSmall(state, button.firstChild, i)
  })
  keepInLine(state, state.list, state.buttons[meta.names.indexOf(state.selected)])
  scrolledByKeys(state.list, state)
  state.layout = layOut(state, width)
  paintLarge(state)
  showControls(state)
  const words = state.hovered ? cellWords(state, state.hovered) : rowWords(state)
  state.readout.textContent = [words, meta.note].filter(Boolean).join(" ")
  state.canvas.setAttribute("aria-label", words)
  showLegend(state)
  const { x, y, cell } = state.layout
  Object.assign(root.dataset, {
    selected: state.selected, shown: state.shown, query: state.query ?? "", hidden: [...state.hidden].join(";"),
    pencil: String(state.pencilOn), geometry: JSON.stringify({ x, y, cell }),
  })
  markPainted(root)
  tellShown(state)
}

/** @param {State} state */
function showControls(state) {
  const { meta, region } = state
  const { texts } = meta
  state.reach.hidden = Boolean(region) || meta.n_layers < 2
  state.tools.hidden = Boolean(region) || !mayChoose(state)
  state.range.value = String(state.shown)
  state.shownWords.textContent = state.shown === 1 ? texts.layer : fill(texts.layers, { layers: state.shown })
  state.range.setAttribute("aria-valuetext", state.shownWords.textContent)
  state.play.textContent = state.timer ? "❚❚" : "▶"
  state.play.title = state.timer ? texts.stop : texts.play
  state.play.setAttribute("aria-label", state.play.title)
  state.pencil.setAttribute("aria-pressed", String(state.pencilOn))
  state.clear.hidden = state.hidden.size === 0
  state.canvas.style.touchAction = state.pencilOn ? "none" : "pan-x pan-y"
  state.canvas.style.cursor = state.pencilOn ? "crosshair" : mayChoose(state) ? "pointer" : ""
}

function showLegend(state) {
  const parts = legendOf(state).map(([look, words, crossed]) => {
    const swatch = element("i", { className: crossed ? "crossed" : "" })
    swatch.style.background = look
    return element("span", {}, swatch, words)
  })
  state.legend.replaceChildren(...parts)
}

// ---- input ----------------------------------------------------------------------------------------------------------

function select(state, name) {
  state.selected = name
  chosen(state, "selected", name)
  tell(state, "pattern", name)
  draw(state)
}

function show(state, layers) {
  state.shown = layers
  later(state)
}

function settleShown(state) {
  chosen(state, "shown", state.shown)
  tell(state, "layers", state.shown)
}

function halt(state) {
  clearInterval(state.timer)
  state.timer = 0
}

// What another user does in the same picture.
/** @type {(state: State, told: import("./shown.js").Shown) => void} */
function follow(state, told) {
  if (!followShown(state, told)) return
  halt(state)
  draw(state)
}

// The picture grows a layer at a time, from one layer on.
/** @param {State} state */
function play(state) {
  if (state.timer) {
    halt(state)
    settleShown(state)
    later(state)
    return
  }
  state.shown = 1
  state.timer = setInterval(() => {
    if (state.shown >= state.meta.n_layers) {
      halt(state)
      settleShown(state)
    } else state.shown++
    later(state)
  }, 550)
  later(state)
}

function pin(state, query) {
  state.query = query
  chosen(state, "query", query)
  tell(state, "query", query)
  later(state)
}

function listen(state) {
  const { canvas, range, root } = state
  range.addEventListener("input", () => {
    halt(state)
    show(state, Number(range.value))
  })
  range.addEventListener("change", () => settleShown(state))
  state.play.addEventListener("click", () => play(state))
  state.pencil.addEventListener("click", () => {
    state.pencilOn = !state.pencilOn
    later(state)
  })
  state.clear.addEventListener("click", () => {
    setHidden(state, [])
    state.pencil.focus() // this button goes, and what was on it would be lost
  })
  const hover = (cell) => {
    if (String(cell) === String(state.hovered)) return
    state.hovered = cell
    if (cell) state.announce(cellWords(state, cell))
    later(state)
  }
  canvas.addEventListener("pointerdown", (event) => beginStroke(state, event))
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(state, event)
    if (state.stroke && cell) paintCell(state, cell)
    if (event.pointerType !== "touch" || state.stroke) hover(cell)
  })
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => endStroke(state))
  canvas.addEventListener("pointerleave", () => state.stroke || hover(null))
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(state, event)
    if (!mayChoose(state)) hover(cell) // a finger has no other way to look
    else if (cell && !state.pencilOn) pin(state, cell[0])
  })
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
    const at = state.hovered ?? [state.query ?? 0, 0]
    if (!plainKey(event)) return
    if (event.key in moves) hover(at.map((place, axis) => clamp(place + moves[event.key][axis], 0, state.n - 1)))
    else if (event.key === "Escape") hover(null)
    else if (event.key === "Enter" && state.pencilOn) toggle(state, at)
    else if (event.key === "Enter" && mayChoose(state)) pin(state, at[0])
    else return
    event.preventDefault()
  })
  canvas.addEventListener("blur", () => hover(null))
  root.dataset.ready = "true"
}
