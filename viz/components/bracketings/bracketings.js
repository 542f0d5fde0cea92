import { chosen, reconcile } from "../shared/choice.js"
import { element, svg } from "../shared/dom.js"
import { pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { announcer, later, markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { createBlocks, drawBlocks } from "./blocks.js"
import { say } from "./matrices.js"
import { createOrders, drawOrders } from "./orders.js"
import { apart, blocksOf, keptStates, mapFirst, mapOf, stateFirst } from "./sums.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const REST = 300 // milliseconds without a change of token or size before the host is told
const PACE = 350 // milliseconds from step to step while it plays
const ICONS = { play: "M6 3.5 16 10 6 16.5z", pause: "M6.5 4v12M13.5 4v12" }

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".bracketings", { create, receive, draw, end, follow })
}

/** @param {State} state */
function end(state) {
  clearInterval(state.timer)
  clearTimeout(state.resting.read)
  clearTimeout(state.resting.block)
}

function create(root) {
  const state = /** @type {any} */ ({ root, at: 0, block: 0, playing: false, timer: 0, resting: { read: 0, block: 0 } })
  state.play = element("button", { type: "button", className: "play" })
  state.play.addEventListener("click", () => (state.playing ? pause(state) : play(state)))
  state.scrub = element("input", { type: "range", min: 0, step: 1, className: "scrub" })
  state.scrub.addEventListener("input", () => show(state, lastOfStep(state, Number(state.scrub.value))))
  state.place = element("span", { className: "place" })
  state.size = element("input", { type: "range", min: 1, step: 1, className: "size" })
  state.size.addEventListener("input", () => resize(state, Number(state.size.value)))
  state.sizeWords = element("span", { className: "place" })
  state.sizes = element("label", { className: "sizes" }, state.sizeWords, state.size)
  state.live = element("div", { className: "spoken", "aria-live": "polite" })
  state.announce = announcer(state.live)
  const [orders, blocks] = [createOrders(), createBlocks()]
  Object.assign(state, { orders, blockParts: blocks })
  root.replaceChildren(element("div", { className: "keys" }, state.play, state.scrub, state.place), state.sizes, orders.box, blocks.box, state.live)
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const [n, d] = arrays.q.shape
  const work = { n, d, dv: arrays.v.shape[1], ...arrays, causal: meta.causal, decay: meta.decay, divides: meta.divides }
  const map = mapOf(work)
  Object.assign(state, { meta, arrays, work, map, kept: keptStates(work), left: mapFirst(work, map), right: stateFirst(work) })
  const block = reconcile(state, "block", meta.block)
  state.block = meta.block && clamp(block, 1, n)
  cut(state)
  const read = reconcile(state, "read", meta.read)
  if (!state.playing) state.at = read
  state.at = clamp(state.at, 0, n - 1)
}

// ---- input ----------------------------------------------------------------------------------------------------------

// A step is a token, or a block of tokens.
/** @type {(state: State) => number} */
const stepOf = ({ at, block }) => (block ? Math.floor(at / block) : at)
/** @type {(state: State) => number} */
const lastStep = ({ work, block }) => (block ? Math.ceil(work.n / block) - 1 : work.n - 1)
/** @type {(state: State, step: number) => number} */
const lastOfStep = ({ work, block }, step) => (block ? Math.min(work.n, (step + 1) * block) - 1 : step)

// The output by blocks of the current size, and its difference from the second order's.
/** @param {State} state */
function cut(state) {
  const { work, block, left, right } = state
  state.blocks = blocksOf(work, block || work.n)
  const { intra, inter } = state.blocks
  state.total = intra.map((value, i) => value + inter[i])
  state.off = apart(left, block ? state.total : right)
}

function show(state, at) {
  pause(state)
  move(state, at)
  state.announce(state.place.textContent)
}

function move(state, at) {
  state.at = at
  told(state, "read", at)
  later(state, () => paint(state)) // the pointer moves more often than the screen is drawn
}

function resize(state, block) {
  pause(state)
  state.block = block
  told(state, "block", block)
  later(state, () => paint(state))
}

// Tell the host the position once it has not changed for a moment.
function told(state, name, value) {
  chosen(state, name, value)
  clearTimeout(state.resting[name])
  state.resting[name] = setTimeout(() => state.send(name, value), REST)
}

function play(state) {
  state.playing = true
  if (stepOf(state) === lastStep(state)) move(state, lastOfStep(state, 0))
  state.timer = setInterval(() => {
    move(state, lastOfStep(state, stepOf(state) + 1))
    if (stepOf(state) === lastStep(state)) pause(state)
  }, PACE)
  draw(state)
}

function pause(state) {
  if (!state.playing) return
  state.playing = false
  clearInterval(state.timer)
  draw(state)
}

/** @param {State} state */
const pictureOf = ({ meta, work }) => [meta.labels.join(""), work.n, work.d, work.decay, Boolean(meta.block)].join()

/** @type {(state: State, told: { of: string, at: number, block: number }) => void} */
function follow(state, { of, at, block }) {
  if (of !== brief(state)) return
  pause(state)
  chosen(state, "read", at)
  chosen(state, "block", block)
  Object.assign(state, { at, block })
  draw(state)
}

// A name for the picture that is short however long its text is.
/** @type {(state: State) => string} */
function brief(state) {
  let sum = 0
  for (const letter of pictureOf(state)) sum = (31 * sum + (letter.codePointAt(0) ?? 0)) | 0
  return String(sum)
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  paint(state)
}

// Everything that depends on the token or the size, in the current colours.
/** @param {State} state */
function paint(state) {
  const { root, meta, work, at, block, theme } = state
  if (!theme) return
  if (state.blocks.size !== (block || work.n)) cut(state)
  const { texts } = meta
  state.sizes.hidden = !block
  state.orders.box.hidden = Boolean(block)
  state.blockParts.box.hidden = !block
  const across = (block ? state.blockParts : state.orders).box.clientWidth // before words that need a new layout
  const [step, last] = [stepOf(state), lastStep(state)]
  const shows = state.playing ? "pause" : "play"
  if (state.play.dataset.shows !== shows) state.play.replaceChildren(svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: ICONS[shows] })))
  Object.assign(state.play.dataset, { shows })
  state.play.title = texts[shows]
  state.play.setAttribute("aria-label", texts[shows])
  state.play.disabled = !last
  state.scrub.max = String(last)
  state.scrub.value = String(step)
  state.scrub.setAttribute("aria-label", block ? texts.blocks_read : texts.tokens_read)
  const token = isolate(meta.labels[at])
  const words = block ? texts.at_block : texts.at_token
  say(state.place, fill(words, { token, place: meta.first + at, block: step + 1, count: last + 1 }))
  state.scrub.setAttribute("aria-valuetext", state.place.textContent)
  if (block) {
    state.size.max = String(work.n)
    state.size.value = String(block)
    say(state.sizeWords, fill(texts.size, { count: wholeNumber(block) }))
    drawBlocks(state.blockParts, { state, theme, step, across })
  } else drawOrders(state.orders, { state, theme, across })
  Object.assign(root.dataset, { at: String(at), block: String(block), playing: String(state.playing), off: String(state.off) })
  markPainted(root)
  pointed(state, { of: brief(state), at, block })
}
