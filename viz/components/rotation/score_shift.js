import { adopt, chosen, reconcile } from "../shared/choice.js"
import { closest, element, focusedBeside } from "../shared/dom.js"
import { pictured, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { inRoom, pointIn } from "../shared/room.js"
import { announcer, later, markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, isolate, tidy, wholeNumber } from "../shared/words.js"
import { adoptRange, setRanges, takeRange } from "./ranges.js"
import { paintShiftCharts, paintShiftMap } from "./shift_charts.js"
import { CELLS, scoreAt } from "./shift_scores.js"
/** @import { Host } from "../shared/types" */
/** @import { ShiftArrays, ShiftAt, ShiftMeta, ShiftState } from "./types" */

const SEND_AFTER = 300 // milliseconds by which position changes are debounced
const NARROW_VIEW = 760

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".score-shift", { create, receive, draw, follow })
}

function create(root) {
  const range = (name) => element("input", { type: "range", className: `slider ${name}`, min: 0, step: 1 })
  const number = () => element("input", { type: "number", className: "number", min: 0, step: 1 })
  const state = /** @type {any} */ ({
    root, asking: 0, frame: 0, dragging: false, m: 0, n: 0, span: 0,
    sliders: { m: range("query"), n: range("key") },
    numbers: { m: number(), n: number() },
    names: { m: element("label", { className: "query" }), n: element("label", { className: "key" }) },
    lock: element("input", { type: "checkbox" }),
    lockWords: element("span"),
    spans: element("div", { className: "spans", role: "group" }),
    back: element("button", { type: "button", className: "back" }),
    readout: element("div", { className: "readout" }),
    map: element("canvas", { role: "img" }),
    charts: element("canvas", { role: "img" }),
    notes: element("div", { className: "notes" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
    tile: document.createElement("canvas"),
  })
  state.announce = announcer(state.live)
  const row = (name) => element("div", { className: "line" }, state.names[name], state.sliders[name], state.numbers[name])
  const lock = element("label", { className: "lock" }, state.lock, state.lockWords)
  const controls = element("div", { className: "controls" }, element("div", { className: "lines" }, row("m"), row("n")), element("div", { className: "beside" }, lock, element("div", { className: "ranges" }, state.spans, state.back)))
  const figure = element("div", { className: "figure" }, state.map, state.charts)
  root.replaceChildren(controls, state.readout, figure, state.notes, state.live)
  listen(state)
  return state
}

/**
 * @param {ShiftState} state
 * @param {{ meta: ShiftMeta, arrays: ShiftArrays }} payload
 */
function receive(state, { meta, arrays }) {
  pictured(state, [meta.head, ...meta.own, ...meta.tokens], ["positions", "span", "lock"])
  Object.assign(state, { meta, arrays })
  const places = reconcile(state, "positions", meta.positions)
  if (!state.dragging) [state.m, state.n] = places
  state.lock.checked = reconcile(state, "lock", meta.lock)
  const counts = { near: Math.min(meta.near, meta.context), context: meta.context }
  setRanges(state, counts, meta.span, Math.max(state.m, state.n))
  state.curveKey = state.flatKey = null
  const { texts } = meta
  setText(state.names.m, fill(texts.query, { token: isolate(meta.tokens[0]) }))
  setText(state.names.n, fill(texts.key, { token: isolate(meta.tokens[1]) }))
  setText(state.lockWords, texts.lock ?? "")
  setText(state.back, fill(texts.back, { m: meta.own[0], n: meta.own[1] }))
  state.spans.setAttribute("aria-label", texts.range ?? "")
  state.spans.replaceChildren(...state.ends.map((end, i) => element("button", { type: "button", "data-span": i, textContent: `0 – ${wholeNumber(end)}` })))
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {ShiftState} state */
function draw(state) {
  const { root, meta } = state
  state.width = root.clientWidth
  if (!state.width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  root.classList.toggle("narrow", state.width < NARROW_VIEW)
  render(state)
}

// Draw what a moving slider changes. This reads and writes no styles.
/** @param {ShiftState} state */
function render(state) {
  const { root, meta, width } = state
  const narrow = width < NARROW_VIEW
  for (const name of ["m", "n"]) {
    state.sliders[name].max = state.numbers[name].max = state.ends[state.span]
    state.sliders[name].value = state[name]
    state.sliders[name].setAttribute("aria-label", state.names[name].textContent)
    state.numbers[name].setAttribute("aria-label", state.names[name].textContent)
    if (focusedBeside(root) !== state.numbers[name]) state.numbers[name].value = state[name]
  }
  for (const button of state.spans.children) button.setAttribute("aria-pressed", String(Number(button.dataset.span) === state.span))
  state.back.disabled = state.m === meta.own[0] && state.n === meta.own[1]
  state.score = scoreAt(state, state.m, state.n)
  const side = narrow ? Math.min(width, 442) : clamp(Math.round(width * 0.42), 320, inRoom(442))
  paintShiftMap(state, side)
  paintShiftCharts(state, narrow ? width : width - side - 28, narrow ? 330 : side)
  writeWords(state)
  Object.assign(root.dataset, { m: state.m, n: state.n, score: state.score, spread: state.spread })
  markPainted(root)
  pointed(state, { of: state.pictured, positions: [state.m, state.n], range: state.ranges[state.span], lock: state.lock.checked })
}

// Show another user's positions of the same two tokens, their range, and whether they move together.
/**
 * @param {ShiftState} state
 * @param {ShiftAt} at
 */
function follow(state, { of, positions, range, lock }) {
  const there = (place) => place >= 0 && place <= state.ends.at(-1)
  if (of !== state.pictured || !positions.every(there) || !adoptRange(state, range)) return
  ;[state.m, state.n] = positions
  state.lock.checked = lock
  adopt(state, "lock", lock)
  adopt(state, "positions", positions)
  soon(state)
}

/** @param {ShiftState} state */
function writeWords(state) {
  const { meta, m, n, score, spread, readout, notes, map, charts } = state
  const { texts } = meta
  const values = { m, n, difference: tidy(String(m - n)), score: signedScore(score) }
  const words = fill(texts.score, values)
  setText(readout, words)
  const parts = [fill(texts.flat, { spread: spread ? tidy(spread.toExponential(0)) : "0" }), fill(texts.deviation, { deviation: meta.deviation })]
  if (m < n && meta.causal) parts.push(texts.later ?? "")
  setText(notes, parts.filter(Boolean).join(" "))
  map.setAttribute("aria-label", `${fill(texts.map, { head: meta.head })} ${words}`)
  charts.setAttribute("aria-label", `${texts.together ?? ""}; ${texts.apart ?? ""}. ${words}`)
  if (state.said !== words) state.announce(words)
  state.said = words
}

const signedScore = (score) => tidy(score.toFixed(2))

// ---- input ----------------------------------------------------------------------------------------------------------

const soon = (state) => later(state, () => state.width && render(state))

// With the lock, the other position follows, and both stop when one reaches an end.
function moveTo(state, name, place) {
  const end = state.ends[state.span]
  const other = name === "m" ? "n" : "m"
  let step = clamp(Math.round(place), 0, end) - state[name]
  if (state.lock.checked) {
    step = clamp(step, -state[other], end - state[other])
    state[other] += step
  }
  state[name] += step
  soon(state)
  if (!state.dragging) settle(state)
}

// Debounced: nothing is sent to the server while a slider moves.
function settle(state) {
  chosen(state, "positions", [state.m, state.n])
  clearTimeout(state.asking)
  state.asking = setTimeout(() => !state.dragging && state.send("positions", [state.m, state.n]), SEND_AFTER)
}

/** @param {ShiftState} state */
function listen(state) {
  for (const name of ["m", "n"]) {
    const [slider, number] = [state.sliders[name], state.numbers[name]]
    const released = () => {
      state.dragging = false
      settle(state)
    }
    slider.addEventListener("pointerdown", () => (state.dragging = true))
    slider.addEventListener("input", () => moveTo(state, name, Number(slider.value)))
    for (const event of ["change", "pointerup", "pointercancel"]) slider.addEventListener(event, released)
    number.addEventListener("input", () => Number.isFinite(number.valueAsNumber) && moveTo(state, name, number.valueAsNumber))
    number.addEventListener("change", () => (number.value = state[name]))
  }
  state.lock.addEventListener("change", () => {
    chosen(state, "lock", state.lock.checked)
    state.send("lock", state.lock.checked)
    soon(state)
  })
  state.spans.addEventListener("click", (event) => {
    const button = closest(event, "[data-span]")
    if (!button) return
    takeRange(state, Number(button.dataset.span))
    soon(state)
    const over = Math.max(state.m, state.n) - state.ends[state.span]
    if (over <= 0) return
    ;[state.m, state.n] = [Math.max(0, state.m - over), Math.max(0, state.n - over)]
    settle(state)
  })
  state.back.addEventListener("click", () => {
    ;[state.m, state.n] = state.meta.own
    soon(state)
    settle(state)
  })
  state.map.addEventListener("pointerdown", (event) => onMap(state, event))
  state.map.addEventListener("pointermove", (event) => event.buttons & 1 && onMap(state, event))
}

// A click on the map moves both positions there, even with the lock.
function onMap(state, event) {
  const { at, window: [m0, n0] } = state
  const { x, y } = pointIn(event, state.map)
  const cell = (place) => clamp(Math.floor(place / at.cell), 0, CELLS - 1)
  const end = state.ends[state.span]
  state.m = Math.min(end, m0 + cell(y - at.top))
  state.n = Math.min(end, n0 + cell(x - at.left))
  soon(state)
  settle(state)
}
