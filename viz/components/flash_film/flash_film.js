import { chosen, reconcile } from "../shared/choice.js"
import { closest, element } from "../shared/dom.js"
import { pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { pointIn } from "../shared/room.js"
import { announcer, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { createMemory, drawMemory, frameText } from "./memory.js"
import { paintTiles, rowUnder } from "./picture.js"
import { createKeys, drawKeys } from "./playing.js"
import { createRow, drawRow } from "./row_sums.js"
import { doneOf, reelOf, sumsOf } from "./tiles.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const REST = 300 // milliseconds without a change of frame or row before the host is told

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".flash-film", { create, receive, draw, end, follow })
}

/** @param {State} state */
function end(state) {
  cancelAnimationFrame(state.timer)
  clearTimeout(state.resting)
}

function create(root, signal) {
  const state = /** @type {any} */ ({ root, at: 0, row: 0, speed: 4, playing: false, timer: 0, resting: 0, due: 0, pixels: document.createElement("canvas") })
  state.keys = createKeys((name, value) => ACTIONS[name](state, value))
  state.canvas = element("canvas", { className: "tiles", role: "img", tabindex: 0 })
  state.happens = element("div", { className: "happens" })
  state.hidden = element("div", { className: "note" })
  state.memory = createMemory()
  state.sums = createRow()
  state.live = element("div", { className: "spoken", "aria-live": "polite" })
  state.announce = announcer(state.live)
  const left = element("div", { className: "left" }, state.canvas, state.hidden)
  const parts = element("div", { className: "parts" }, left, state.memory.box, state.sums.box)
  root.replaceChildren(state.keys.box, state.happens, parts, state.live)
  root.addEventListener("keydown", (event) => key(state, event), { signal })
  state.canvas.addEventListener("click", (event) => {
    const row = rowUnder(state.place, pointIn(event, state.canvas).y, state.reel.work.n)
    if (row !== null) choose(state, row)
  })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  state.meta = meta
  const [n, dv] = arrays.v.shape
  const work = { n, d: meta.d_head, dv, scores: arrays.scores, v: arrays.v, sink: meta.sink }
  state.reel = reelOf(work, { rows: meta.rows, columns: meta.columns, order: meta.order })
  state.after = sumsOf(work, state.reel.plan, state.reel.seen)
  state.row = clamp(reconcile(state, "row", meta.row), 0, n - 1)
  const frame = reconcile(state, "frame", meta.frame)
  if (!state.playing) state.at = frame
  state.at = clamp(state.at, 0, lastOf(state))
}

/** @param {State} state */
const lastOf = (state) => state.reel.kind.length - 1

// ---- input ----------------------------------------------------------------------------------------------------------

const ACTIONS = {
  start: (state) => show(state, 0),
  back: (state) => show(state, state.at - 1),
  step: (state) => show(state, state.at + 1),
  scrub: (state, frame) => show(state, frame),
  play: (state) => (state.playing ? pause(state) : play(state)),
  speed: (state, speed) => {
    state.speed = speed
    draw(state)
  },
}

function show(state, frame) {
  pause(state)
  state.at = clamp(frame, 0, lastOf(state))
  rest(state)
  draw(state)
  state.announce(state.happens.textContent)
}

// Tell the host the frame once it has not changed for a moment: with its own timer, beside the row's.
function rest(state) {
  chosen(state, "frame", state.at)
  clearTimeout(state.resting)
  state.resting = setTimeout(() => !state.playing && state.send("frame", state.at), REST)
}

/** @param {State} state */
function play(state) {
  if (state.at === lastOf(state)) state.at = 0
  Object.assign(state, { playing: true, due: performance.now() + 1000 / state.speed })
  const tick = (now) => {
    if (!state.playing) return
    if (now >= state.due) {
      state.due = Math.max(state.due + 1000 / state.speed, now) // if it lags, it does not race to catch up
      state.at = Math.min(state.at + 1, lastOf(state))
      if (state.at === lastOf(state)) pause(state)
      draw(state)
    }
    if (state.playing) state.timer = requestAnimationFrame(tick)
  }
  state.timer = requestAnimationFrame(tick)
  draw(state)
}

/** @param {State} state */
function pause(state) {
  if (!state.playing) return
  state.playing = false
  cancelAnimationFrame(state.timer)
  rest(state)
  draw(state)
}

function choose(state, row) {
  state.row = clamp(row, 0, state.reel.work.n - 1)
  chosen(state, "row", state.row)
  tell(state, "row", state.row, REST)
  draw(state)
  state.announce(state.sums.title.textContent)
}

function key(state, event) {
  if (!plainKey(event) || closest(event, "select, .scrub")) return
  const actions = { ArrowLeft: "back", ArrowRight: "step", Home: "start", " ": closest(event, "button") ? null : "play" }
  const rows = { ArrowUp: -1, ArrowDown: 1 }
  if (event.key in rows) choose(state, state.row + rows[event.key])
  else if (event.key === "End") show(state, lastOf(state))
  else if (actions[event.key]) ACTIONS[actions[event.key]](state)
  else return
  event.preventDefault()
}

/** @param {State} state */
const filmOf = ({ reel }) => [reel.work.n, reel.plan.rows, reel.plan.columns, reel.plan.order, reel.kind.length].join()

// The frame and the row that another user looks at in the same film, also while it plays there.
/** @type {(state: State, told: { of: string, at: number, row: number }) => void} */
function follow(state, { of, at, row }) {
  if (of !== filmOf(state)) return
  end(state)
  Object.assign(state, { playing: false, at, row })
  chosen(state, "frame", at)
  chosen(state, "row", row)
  draw(state)
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {State} state */
function draw(state) {
  const { root, meta, reel, at, row } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  const { texts } = meta
  const theme = (state.theme = readTheme(root, meta.palette))
  const done = doneOf(reel, at)
  drawKeys(state.keys, { meta, at, last: lastOf(state), playing: state.playing, speed: state.speed })
  state.happens.textContent = frameText(state)
  state.place = paintTiles({ canvas: state.canvas, pixels: state.pixels, reel, sums: state.after, done, at, row, theme })
  state.canvas.setAttribute("aria-label", `${texts.map} ${state.happens.textContent}`)
  const total = reel.seen.length * state.after.across
  state.hidden.textContent = reel.tiles < total ? fill(texts.hidden, { count: total - reel.tiles, total }) : ""
  drawMemory(state.memory, { meta, reel, at })
  const off = drawRow(state.sums, { meta, reel, row, done, theme })
  Object.assign(root.dataset, {
    frame: String(at), frames: String(lastOf(state)), row: String(row), playing: String(state.playing),
    read: String(reel.read[at]), written: String(reel.written[at]), off: off === null ? "" : String(off),
  })
  markPainted(root)
  pointed(state, { of: filmOf(state), at, row })
}
