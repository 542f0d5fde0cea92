import { adopt, chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { pictured, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { pointIn } from "../shared/room.js"
import { announcer, later, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { paintSplit } from "./split_paint.js"
import { cellWords, pairWords, shownColumn, total } from "./split_words.js"
/** @import { Host } from "../shared/types" */
/** @import { SplitArrays, SplitAt, SplitMeta, SplitState } from "./types" */

const SEND_AFTER = 200 // milliseconds by which arrow keys are debounced

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".score-split", { create, receive, draw, follow })
}

function create(root) {
  const state = {
    root, pair: null, hovered: null, asking: 0, frame: 0,
    readout: element("div", { className: "readout" }),
    canvas: element("canvas", { role: "img", tabIndex: 0 }),
    notes: element("div", { className: "notes" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  }
  state.announce = announcer(state.live)
  root.replaceChildren(state.readout, state.canvas, state.notes, state.live)
  listen(state)
  return state
}

// Rows are the pairs, fastest first, then any dimensions that are not rotated.
/**
 * @param {SplitState} state
 * @param {{ meta: SplitMeta, arrays: SplitArrays }} payload
 */
function receive(state, { meta, arrays }) {
  const [n_pairs, n_keys] = arrays.contributions.shape
  const values = Array.from({ length: n_pairs }, (_, i) => arrays.contributions.subarray(i * n_keys, (i + 1) * n_keys))
  if (meta.n_rest) values.push(arrays.rest)
  const waves = Array.from(arrays.theta, (theta) => (theta ? (2 * Math.PI) / Math.abs(theta) : Infinity))
  Object.assign(state, { meta, arrays, values, waves, positions: Array.from(arrays.positions) })
  pictured(state, [meta.head, ...meta.query], ["key"])
  const key = reconcile(state, "key", meta.key)
  state.column = Math.max(0, state.positions.indexOf(state.positions.includes(key) ? key : meta.key))
  if (state.pair !== null && state.pair >= values.length) state.pair = null
  state.hovered = null
}

/** @param {SplitState} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  paintSplit(state, root.clientWidth)
  const words = state.pair === null ? cellWords(state) : pairWords(state)
  if (state.readout.textContent !== words) {
    state.readout.textContent = words
    state.announce(words)
  }
  state.notes.textContent = [meta.texts.how, meta.note].filter(Boolean).join(" ")
  state.canvas.setAttribute("aria-label", cellWords(state))
  const column = shownColumn(state)
  Object.assign(root.dataset, { key: state.positions[column], pair: state.pair ?? "", score: total(state, column) })
  root.dataset.geometry = JSON.stringify(state.at)
  markPainted(root)
  const { positions, pair, hovered } = state
  pointed(state, { of: state.pictured, pair, key: positions[state.column], hovered: hovered === null ? null : positions[hovered] })
}

// Show the pair that another user points at and their chosen and hovered keys, for the same query.
/**
 * @param {SplitState} state
 * @param {SplitAt} at
 */
function follow(state, { of, pair, key, hovered }) {
  const [column, under] = [key, hovered].map((one) => (one === null ? null : state.positions.indexOf(one)))
  if (of !== state.pictured || column === -1 || under === -1 || (pair !== null && !state.values[pair])) return
  Object.assign(state, { pair, column, hovered: under })
  adopt(state, "key", key)
  later(state)
}

// ---- input ----------------------------------------------------------------------------------------------------------

function choose(state, column, delay = 0) {
  state.column = clamp(column, 0, state.positions.length - 1)
  state.hovered = null
  const key = state.positions[state.column]
  chosen(state, "key", key)
  tell(state, "key", key, delay)
  later(state)
}

function placeOf(state, event) {
  const { at, values, positions, canvas } = state
  const { x, y } = pointIn(event, canvas)
  const row = Math.floor((y - at.top) / at.row)
  const column = Math.floor((x - at.map) / at.column)
  return { pair: row >= 0 && row < values.length ? row : null, column: column >= 0 && column < positions.length && y >= at.top ? column : null }
}

function listen(state) {
  const { canvas } = state
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return
    const { pair, column } = placeOf(state, event)
    if (pair === state.pair && column === state.hovered) return
    Object.assign(state, { pair, hovered: column })
    later(state)
  })
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "touch") return
    Object.assign(state, { pair: null, hovered: null })
    later(state)
  })
  canvas.addEventListener("click", (event) => {
    const { pair, column } = placeOf(state, event)
    state.pair = pair
    if (column !== null) choose(state, column)
    else later(state)
  })
  canvas.addEventListener("keydown", (event) => {
    if (!plainKey(event)) return
    const rows = state.values.length
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") choose(state, state.column + (event.key === "ArrowLeft" ? -1 : 1), SEND_AFTER)
    else if (event.key === "ArrowUp") state.pair = clamp((state.pair ?? rows) - 1, 0, rows - 1)
    else if (event.key === "ArrowDown") state.pair = clamp((state.pair ?? -1) + 1, 0, rows - 1)
    else if (event.key === "Escape") state.pair = null
    else return
    event.preventDefault()
    later(state)
  })
}
