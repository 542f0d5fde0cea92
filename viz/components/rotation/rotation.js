import { adopt, chosen, reconcile } from "../shared/choice.js"
import { closest, element, hasFocus } from "../shared/dom.js"
import { pictured, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { inRoom, pointIn } from "../shared/room.js"
import { announcer, later, markPainted, mounted, plainKey } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, formatPlain, isolate, wholeNumber } from "../shared/words.js"
import { threeDigits } from "./axis.js"
import { dialAt, paintDials } from "./dials.js"
import { adoptRange, setRanges, takeRange } from "./ranges.js"
import { paintWaves, waveAt } from "./wavelengths.js"
/** @import { Host } from "../shared/types" */
/** @import { RotationArrays, RotationAt, RotationMeta, RotationState } from "./types" */

const SEND_AFTER = 300 // milliseconds by which position changes are debounced
const PLAY_SECONDS = 14 // for the whole slider, but no slower than a few positions a second
const NARROW_VIEW = 640
const MEDIUM_VIEW = 1010 // below this width the sentence about a pair takes two lines

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".rotation", { create, receive, draw, follow, end: (state) => (pause(state), clearTimeout(state.pinning)) })
}

function create(root) {
  const node = (tag, className, properties = {}) => element(tag, { className, ...properties })
  const state = /** @type {any} */ ({
    root, position: 0, pair: null, pinned: null, span: 0, frame: 0, asking: 0, playing: null,
    play: node("button", "play", { type: "button" }),
    slider: node("input", "slider", { type: "range", min: 0, step: 1 }),
    number: node("input", "number", { type: "number", min: 0, step: 1 }),
    spans: node("div", "spans", { role: "group" }),
    own: node("button", "own", { type: "button" }),
    readout: node("div", "readout"),
    canvas: node("canvas", "dials", { role: "img", tabIndex: 0 }),
    waves: node("canvas", "waves", { role: "img" }),
    notes: node("div", "notes"),
    live: node("div", "spoken", { "aria-live": "polite" }),
  })
  state.announce = announcer(state.live)
  state.controls = element("div", { className: "controls" }, state.play, state.slider, state.number, state.spans, state.own)
  root.replaceChildren(state.controls, state.readout, state.canvas, state.waves, state.notes, state.live)
  listen(state)
  return state
}

/**
 * @param {RotationState} state
 * @param {{ meta: RotationMeta, arrays: RotationArrays }} payload
 */
function receive(state, { meta, arrays }) {
  const two = (values, i) => [values[2 * i], values[2 * i + 1]]
  const pairs = Array.from(arrays.theta, (theta, i) => ({
    theta, wavelength: theta ? (2 * Math.PI) / Math.abs(theta) : Infinity, q: two(arrays.q, i), k: two(arrays.k, i),
    dimensions: two(arrays.dimensions, i),
  }))
  const longest = {}
  for (const name of ["query", "key"]) {
    longest[name] = Math.max(...pairs.map((pair) => Math.hypot(...pair[name[0]]))) * meta.factor || 1
  }
  pictured(state, [meta.head, meta.own, meta.token], ["position", "span", "pair"])
  Object.assign(state, { meta, pairs, longest, context: meta.context, factor: meta.factor })
  const given = reconcile(state, "pair", meta.pair)
  const pinned = pairs[given ?? -1] ? given : null
  if (pinned !== state.pinned || (state.pair ?? 0) >= pairs.length) state.pair = state.pinned = pinned
  const position = reconcile(state, "position", meta.position)
  if (!state.playing && !state.dragging) state.position = position
  const counts = { near: Math.min(meta.near, meta.context), context: meta.context, far: meta.farthest }
  setRanges(state, counts, meta.span, state.position)
  label(state)
}

// Set the text that does not change while the slider moves.
/** @param {RotationState} state */
function label({ meta, play: button, slider, number, spans, own, canvas, ends, span }) {
  const { texts } = meta
  button.title = texts.play ?? ""
  slider.setAttribute("aria-label", texts.position ?? "")
  number.setAttribute("aria-label", texts.position ?? "")
  number.max = ends.at(-1)
  own.textContent = fill(texts.own, { position: meta.own })
  spans.setAttribute("aria-label", texts.range ?? "")
  spans.replaceChildren(...ends.map((end, i) => element("button", { type: "button", "aria-pressed": String(i === span), "data-span": i, textContent: `0 – ${wholeNumber(end)}` })))
  canvas.title = ""
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {RotationState} state */
function draw(state) {
  const { root, meta } = state
  state.width = root.clientWidth
  if (!state.width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  root.classList.toggle("narrow", state.width < NARROW_VIEW)
  root.classList.toggle("medium", state.width < MEDIUM_VIEW)
  render(state)
}

// Draw what a moving slider changes. This reads and writes no styles, so that a frame costs little more than its paint.
/** @param {RotationState} state */
function render(state) {
  const { root, meta, slider, number, width } = state
  slider.max = state.ends[state.span]
  slider.value = state.position
  if (!hasFocus(number)) number.value = state.position
  for (const button of state.spans.children) button.setAttribute("aria-pressed", String(Number(button.dataset.span) === state.span))
  state.own.disabled = state.position === meta.own
  state.play.textContent = state.playing ? "❚❚" : "▶"
  state.play.setAttribute("aria-label", (state.playing ? meta.texts.pause : meta.texts.play) ?? "")
  paintDials(state, width, width < NARROW_VIEW ? 470 : inRoom(340))
  paintWaves(state, width)
  writeWords(state)
  root.dataset.position = String(state.position)
  root.dataset.pair = state.pair === null ? "" : String(state.pair)
  markPainted(root)
  pointed(state, { of: state.pictured, position: state.position, range: state.ranges[state.span], pair: state.pair })
}

// Show another user's position of the same token, its range, and the open pair.
/**
 * @param {RotationState} state
 * @param {RotationAt} at
 */
function follow(state, { of, position, range, pair }) {
  if (of !== state.pictured || position > state.ends.at(-1) || (pair !== null && !state.pairs[pair])) return
  if (!adoptRange(state, range)) return
  pause(state)
  Object.assign(state, { position, pair, pinned: pair })
  adopt(state, "position", position)
  adopt(state, "pair", pair)
  soon(state)
}

/** @param {RotationState} state */
function writeWords(state) {
  const { meta, pairs, position, pair, readout, notes, canvas, waves, longest } = state
  const { texts } = meta
  const hint = fill(texts.hint, { token: isolate(meta.token), q: formatPlain(longest.query), k: formatPlain(longest.key) })
  setText(readout, pair === null ? hint : pairWords(state, pair))
  const slow = pairs.filter((one) => one.wavelength > meta.context).length
  const lines = [position >= meta.context ? fill(texts.beyond, { position: wholeNumber(position), context: wholeNumber(meta.context) }) : fill(texts.equal, { position: meta.own, difference: meta.difference })]
  if (slow) lines.push(fill(texts.never, { count: slow, total: pairs.length }))
  lines.push(...meta.notes)
  notes.classList.toggle("beyond", position >= meta.context)
  setText(notes, lines.join(" "))
  const degrees = (one) => `${wholeNumber(Math.round((position * one.theta * 180) / Math.PI))}°`
  const summary = fill(texts.summary, { head: meta.head, token: isolate(meta.token), position, count: pairs.length, fast: degrees(pairs[0]), slow: degrees(pairs.at(-1)) })
  if (canvas.getAttribute("aria-label") !== summary) {
    canvas.setAttribute("aria-label", summary)
    if (!state.playing) state.announce(pair === null ? summary : pairWords(state, pair))
  }
  waves.setAttribute("aria-label", `${texts.wavelength_axis ?? ""}: ${pairs.map((one) => formatPlain(one.wavelength)).join(", ")}`)
}

/** @param {RotationState} state */
function pairWords({ meta, pairs, position }, i) {
  const { theta, wavelength, q, k, dimensions } = pairs[i]
  const angle = position * theta
  return fill(meta.texts.pair, {
    i, a: dimensions[0], b: dimensions[1], position, theta: threeDigits(theta), angle: formatPlain(angle),
    turns: formatPlain(angle / (2 * Math.PI)), wavelength: Number.isFinite(wavelength) ? formatPlain(wavelength) : "∞",
    q: formatPlain(Math.hypot(...q)), k: formatPlain(Math.hypot(...k)),
  })
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

// ---- input ----------------------------------------------------------------------------------------------------------

const soon = (state) => later(state, () => state.width && render(state))

function turnTo(state, position, { send = true } = {}) {
  state.position = clamp(Math.round(position), 0, state.ends.at(-1))
  const needed = state.ends.findIndex((end) => state.position <= end)
  if (needed > state.span) takeRange(state, needed)
  soon(state)
  if (send) settle(state)
}

// Debounced: nothing is sent to the server while the slider moves.
function settle(state) {
  chosen(state, "position", state.position)
  clearTimeout(state.asking)
  state.asking = setTimeout(() => {
    if (!state.dragging && !state.playing) state.send("position", state.position)
  }, SEND_AFTER)
}

function pause(state) {
  if (!state.playing) return
  cancelAnimationFrame(state.playing.frame)
  state.playing = null
}

function play(state) {
  const end = state.ends[state.span]
  const speed = Math.max(4, end / PLAY_SECONDS) // positions a second
  const from = state.position >= end ? 0 : state.position
  state.playing = { start: performance.now(), frame: 0 }
  const step = (now) => {
    const position = Math.floor(from + (speed * Math.max(0, now - state.playing.start)) / 1000)
    const finished = position >= end
    if (finished) state.playing = null
    if (finished || position !== state.position) {
      state.position = Math.min(position, end)
      render(state)
    }
    if (finished) settle(state)
    else state.playing.frame = requestAnimationFrame(step)
  }
  state.playing.frame = requestAnimationFrame(step)
}

/** @param {RotationState} state */
function listen(state) {
  const { slider, number, spans, own, canvas, waves } = state
  slider.addEventListener("pointerdown", () => (state.dragging = true))
  const released = () => {
    state.dragging = false
    settle(state)
  }
  slider.addEventListener("input", () => {
    pause(state)
    turnTo(state, Number(slider.value), { send: !state.dragging })
  })
  slider.addEventListener("change", released)
  slider.addEventListener("pointerup", released)
  slider.addEventListener("pointercancel", released)
  number.addEventListener("input", () => Number.isFinite(number.valueAsNumber) && turnTo(state, number.valueAsNumber))
  number.addEventListener("change", () => (number.value = state.position))
  own.addEventListener("click", () => {
    pause(state)
    turnTo(state, state.meta.own)
  })
  spans.addEventListener("click", (event) => {
    const button = closest(event, "[data-span]")
    if (!button) return
    takeRange(state, Number(button.dataset.span))
    if (state.position > state.ends[state.span]) turnTo(state, state.ends[state.span])
    soon(state)
  })
  state.play.addEventListener("click", () => {
    if (state.playing) {
      pause(state)
      turnTo(state, state.position)
    } else play(state)
    soon(state)
  })
  point(state, canvas, (x, y) => dialAt(state, x, y))
  point(state, waves, (x) => waveAt(state, x))
  canvas.addEventListener("keydown", (event) => onKey(state, event))
}

// Hovering shows a pair, a click pins it.
function point(state, canvas, find) {
  const at = (event) => {
    const { x, y } = pointIn(event, canvas)
    return find(x, y)
  }
  const look = (pair) => {
    if (state.pair === pair) return
    state.pair = pair
    soon(state)
  }
  canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && look(at(event) ?? state.pinned))
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && look(state.pinned))
  canvas.addEventListener("click", (event) => {
    const pair = at(event)
    pin(state, pair === state.pinned ? null : pair)
  })
}

/** @type {(state: RotationState, pair: number | null, wait?: number) => void} */
function pin(state, pair, wait = 0) {
  state.pair = state.pinned = pair
  chosen(state, "pair", pair)
  clearTimeout(state.pinning) // a separate timer, so that sending a position does not cancel it
  state.pinning = setTimeout(() => state.send("pair", pair), wait)
  soon(state)
}

function onKey(state, event) {
  if (!plainKey(event)) return
  const last = state.pairs.length - 1
  const here = state.pair ?? -1
  const moves = {
    ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - state.grid.columns, ArrowDown: here + state.grid.columns,
    Home: 0, End: last, Enter: here,
  }
  if (event.key === "Escape") pin(state, null)
  else if (event.key in moves) pin(state, clamp(moves[event.key], 0, last), SEND_AFTER)
  else return
  event.preventDefault()
}
