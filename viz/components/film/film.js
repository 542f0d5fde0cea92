// A text being generated, as a film. The frames arrive in chunks and are cached here; stepping, playing and scrubbing
// among them sends nothing: the host is told once where the user stops. Only near the end of the cached frames does it
// request more, for at most about a second ahead.

import { closest, element } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { markPainted, mounted, plainKey } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { createAxis, drawAxis, layOut } from "./axis.js"
import { createChips, drawChips } from "./chips.js"
import { createChoice, drawChoice, drawFan } from "./choice.js"
import { emptyReel, following, lastFrame, merge } from "./frames.js"
import { drawLegend } from "./legend.js"
import { playBeats, stopBeats } from "./motion.js"
import { createTransport, drawTransport } from "./transport.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const REST = 300 // milliseconds at a frame before the host is told
const PATIENCE = 15000 // milliseconds after which a request without an answer is forgotten

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".film", { create, receive, draw, end, follow })
}

/** @param {State} state */
function end(state) {
  stopBeats(state)
  cancelAnimationFrame(state.timer)
  clearTimeout(state.resting)
}

function create(root, signal) {
  const state = {
    reel: emptyReel(), meta: null, root, at: 0, speed: 1, playing: false, asks: 0, asking: 0, askedAt: 0, stepping: false,
    bound: null, timer: 0, due: 0, resting: 0, told: "", beats: [], seen: 0, shown: 0,
  }
  const act = (name, value) => ACTIONS[name](state, value)
  state.transport = createTransport(act)
  state.chips = createChips(act)
  state.choice = createChoice(act)
  state.axis = createAxis(act, state.chips.box)
  const frame = element("div", { className: "frame" }, state.axis.box, state.choice.box)
  root.replaceChildren(state.transport.box, frame)
  state.announce = state.axis.announce
  root.addEventListener("keydown", (event) => key(state, event), { signal })
  document.addEventListener("click", (event) => pressedBelow(/** @type {any} */ (state), event), { capture: true, signal })
  return state
}

// ---- data -----------------------------------------------------------------------------------------------------------

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const { reel } = state
  const atEnd = state.at >= lastFrame(reel)
  if (meta.answered >= state.asking) state.asking = 0
  const merged = merge(reel, meta, arrays)
  if (merged === "gap") {
    if (state.meta) ask(state, 0, meta.film === reel.film ? lastFrame(reel) + 1 : 0)
    return
  }
  state.meta = meta
  if (merged === "new") {
    const seen = meta.alive ? Math.max(meta.at, meta.goal > 1 ? meta.goal : 0) : lastFrame(reel) // one token is generated ahead and not yet shown
    Object.assign(state, { at: meta.at, bound: meta.at, seen, stepping: false, told: `${meta.film} ${meta.at}` })
  } else if (state.stepping && atEnd && lastFrame(reel) > state.at) {
    state.at += 1
    state.stepping = false
    rest(state)
    ask(state, 1) // the next step will be ready when it is requested
  }
  if (state.bound !== null) state.at = state.bound // where the film should open, as soon as that frame is here
  state.at = clamp(state.at, 0, Math.max(0, lastFrame(reel)))
  if (state.playing) prefetch(state)
  else if (lastFrame(reel) < meta.goal && mayGoOn(state)) ask(state, meta.goal - lastFrame(reel))
  else if (meta.pending) ask(state, 0) // the other parameters of the URL, a moment at a time
}

/** @param {State} state */
const mayGoOn = ({ meta, reel }) => meta.alive && !meta.stop && lastFrame(reel) < meta.limit

// Request frames beyond the cached ones from the host; one request at a time.
/** @param {State} state */
function ask(state, wanted, have = lastFrame(state.reel) + 1) {
  const waiting = state.asking && performance.now() - state.askedAt < PATIENCE
  if (state.follows || waiting || (wanted > 0 && !mayGoOn(state))) return
  state.asks += 1
  Object.assign(state, { asking: state.asks, askedAt: performance.now() })
  const { playing, asks } = state
  state.send("more", { film: state.meta?.film ?? null, have, at: state.bound ?? state.at, wanted, ask: asks, playing })
}

const prefetch = (state) => {
  const ahead = lastFrame(state.reel) - state.at
  if (ahead < Math.max(2, state.speed * 0.75)) ask(state, Math.max(1, Math.ceil(state.speed * 0.75)))
}

// ---- input ----------------------------------------------------------------------------------------------------------

const ACTIONS = {
  start: (state) => show(state, 0),
  back: (state) => show(state, state.at - 1),
  scrub: (state, frame) => show(state, frame),
  play: (state) => (state.playing ? pause(state) : play(state)),
  speed: (state, speed) => {
    state.speed = speed
    draw(state)
  },
  step: (state) => {
    pause(state)
    if (state.at < lastFrame(state.reel)) show(state, state.at + 1)
    else state.stepping = mayGoOn(state)
    if (state.at >= lastFrame(state.reel)) ask(state, 1) // one ahead, so that the next step is ready at once
    draw(state)
  },
  force: (state, token) => {
    pause(state)
    const { at, reel } = state
    if (reel.frames[at + 1]?.token === token) return show(state, at + 1) // it is the one that was drawn, unseen
    state.send("force", { film: state.meta.film, frame: at + 1, token })
  },
  head: (state, head) => mayChoose(state) && state.send("head", head),
  hover: (state) => drawAxis(state.axis, state, state.theme),
}

function show(state, frame) {
  pause(state)
  state.stepping = false
  state.at = clamp(frame, 0, lastFrame(state.reel))
  draw(state)
}

// Tell the host the frame once it has not changed for a moment.
/** @param {State} state */
function rest(state) {
  clearTimeout(state.resting)
  if (state.meta.alive) state.resting = setTimeout(() => tellRest(state), REST)
}

/** @param {State} state */
function tellRest(state) {
  const place = `${state.reel.film} ${state.at}`
  if (state.playing || place === state.told) return
  state.told = place
  state.send("rest", { film: state.reel.film, have: lastFrame(state.reel) + 1, at: state.at })
}

// What the page does with the text refers to the current frame: the film stops there, and the host is told first.
/**
 * @param {State} state
 * @param {MouseEvent} event
 */
function pressedBelow(state, event) {
  const target = /** @type {Element} */ (event.target)
  const opening = state.bound !== null // at a frame that the host named itself
  if (!state.meta?.alive || opening || !target.closest?.(".st-key-film_actions")) return
  if (state.playing) {
    pause(state)
    draw(state)
  }
  clearTimeout(state.resting)
  tellRest(state)
}

function play(state) {
  if (state.at >= lastFrame(state.reel) && !mayGoOn(state)) state.at = 0
  Object.assign(state, { playing: true, bound: null, due: performance.now() + 1000 / state.speed })
  prefetch(state)
  const tick = (now) => {
    if (!state.playing) return
    if (now >= state.due) advance(state, now)
    state.timer = requestAnimationFrame(tick)
  }
  state.timer = requestAnimationFrame(tick)
  draw(state)
}

function advance(state, now) {
  if (state.at < lastFrame(state.reel)) {
    state.at += 1
    state.due = Math.max(state.due + 1000 / state.speed, now) // if it lags, it does not race to catch up
    prefetch(state)
    draw(state)
    playBeats(state)
  } else if (mayGoOn(state)) {
    prefetch(state)
  } else {
    pause(state)
    draw(state)
  }
}

function pause(state) {
  stopBeats(state)
  state.playing = false
  state.bound = null
  cancelAnimationFrame(state.timer)
  rest(state)
}

function key(state, event) {
  if (!plainKey(event) || event.target.tagName === "SELECT") return
  const onButton = closest(event, "button")
  const actions = { ArrowLeft: "back", ArrowRight: "step", Home: "start", " ": onButton ? null : "play" }
  if (event.key === "End") show(state, lastFrame(state.reel))
  else if (actions[event.key]) ACTIONS[actions[event.key]](state)
  else return
  event.preventDefault()
}

// The frame that another user looks at in the same film, as soon as it is here.
/** @param {State} state */
function follow(state, { film, at }) {
  if (film !== state.reel.film) return
  Object.assign(state, { playing: false, bound: at > lastFrame(state.reel) ? at : null })
  state.at = clamp(at, 0, lastFrame(state.reel))
  draw(state)
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {State} state */
function draw(state) {
  const { root, reel, meta, at } = state
  if (!meta || !reel.frames.length) return
  state.seen = Math.max(state.seen, at)
  state.shown = Math.min(lastFrame(reel), Math.max(state.seen, state.playing ? at + 1 : 0)) // the last frame whose token is shown
  const theme = (state.theme = readTheme(root, meta.palette))
  drawTransport(state.transport, state, theme)
  drawChoice(state.choice, state)
  const layout = layOut(state.axis, state, theme)
  if (layout) {
    drawChips(state.chips, state, layout, theme)
    drawAxis(state.axis, state, theme)
    drawLegend(state.axis, state, theme)
    drawLead(state, layout)
  }
  Object.assign(root.dataset, {
    film: reel.film, frame: String(state.at), frames: String(reel.frames.length), playing: String(state.playing),
    stepping: String(state.stepping), // to a frame that is being generated
  })
  markPainted(root)
  pointed(state, { film: reel.film, at })
}

// The line from the newest token to what comes after it.
/** @param {State} state */
function drawLead(state, layout) {
  const { axis, chips, choice } = state
  const frame = following(state)
  const chip = chips.box.querySelector(".current")
  const beside = choice.box.offsetTop === axis.box.offsetTop
  const shown = Boolean(frame && chip && beside && layout.mode === "chips")
  axis.lead.hidden = !shown
  choice.fan.toggleAttribute("hidden", !shown)
  if (!shown) return
  const y = chips.box.offsetTop + chip.offsetHeight / 2
  Object.assign(axis.lead.style, { left: `${chip.offsetLeft + chip.offsetWidth}px`, top: `${y}px` })
  drawFan(choice, frame, axis.text.offsetTop + y)
}
