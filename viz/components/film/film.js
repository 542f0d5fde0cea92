// A text being generated, as a film. The frames come in chunks and stay here; stepping, playing and scrubbing among them
// asks nobody. Only at the end of what is here does it ask for more, for at most about a second ahead.

const PATIENCE = 15000 // milliseconds after which an ask without an answer is forgotten

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".film")
  const state = stateOf(root, create)
  state.setTriggerValue = setTriggerValue
  receive(state, unpack(data))
  return state.dispose
}

function create(root) {
  const state = {
    reel: emptyReel(), meta: null, root, at: 0, speed: 4, playing: false, asks: 0, asking: 0, askedAt: 0, stepping: false,
    bound: null, timer: 0, due: 0,
  }
  const act = (name, value) => ACTIONS[name](state, value)
  state.transport = createTransport(act)
  state.chips = createChips(act)
  state.choice = createChoice(act)
  state.axis = createAxis(root, act)
  const frame = element("div", { className: "frame" }, state.choice.box, state.axis.box)
  root.replaceChildren(state.transport.box, state.chips.box, frame)
  const onKey = (event) => key(state, event)
  root.addEventListener("keydown", onKey)
  const stop = watchLayout(root, () => draw(state))
  state.dispose = () => {
    stop()
    cancelAnimationFrame(state.timer)
    root.removeEventListener("keydown", onKey)
    state.axis.announce.stop()
    root.replaceChildren()
    root.atlas = undefined
  }
  return state
}

// ---- what arrives ---------------------------------------------------------------------------------------------------

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
    Object.assign(state, { at: meta.at, bound: meta.at, stepping: false })
  } else if (state.stepping && atEnd && lastFrame(reel) > state.at) {
    state.at += 1
    state.stepping = false
    ask(state, 1) // the next step will be there when it is asked for
  }
  if (state.bound !== null) state.at = state.bound // where the film is to open, as soon as it is there
  state.at = clamp(state.at, 0, Math.max(0, lastFrame(reel)))
  if (state.playing) prefetch(state)
  else if (lastFrame(reel) < meta.goal) ask(state, meta.goal - lastFrame(reel))
  draw(state)
}

const mayGoOn = ({ meta, reel }) => meta.alive && !meta.stop && lastFrame(reel) < meta.limit

// Ask the host for frames beyond those here; one ask at a time.
function ask(state, wanted, have = lastFrame(state.reel) + 1) {
  const waiting = state.asking && performance.now() - state.askedAt < PATIENCE
  if (waiting || (wanted > 0 && !mayGoOn(state))) return
  state.asks += 1
  Object.assign(state, { asking: state.asks, askedAt: performance.now() })
  state.setTriggerValue("more", { film: state.meta?.film ?? null, have, wanted, ask: state.asks })
}

const prefetch = (state) => {
  const ahead = lastFrame(state.reel) - state.at
  if (ahead < Math.max(2, state.speed * 0.75)) ask(state, Math.max(1, Math.ceil(state.speed * 0.75)))
}

// ---- what the reader does -------------------------------------------------------------------------------------------

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
    if (state.at >= lastFrame(state.reel)) ask(state, 1) // one ahead, so that the next step is at once there
    draw(state)
  },
  force: (state, token) => {
    pause(state)
    // At the prompt the next token is forced, at a later frame its own token is replaced.
    state.setTriggerValue("force", { film: state.meta.film, frame: Math.max(1, state.at), token })
  },
  head: (state, head) => state.setTriggerValue("head", head),
  hover: (state) => drawAxis(state.axis, state, state.theme),
}

function show(state, frame) {
  pause(state)
  state.stepping = false
  state.at = clamp(frame, 0, lastFrame(state.reel))
  draw(state)
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
    state.due = Math.max(state.due + 1000 / state.speed, now) // behind, it does not race to catch up
    prefetch(state)
    draw(state)
  } else if (mayGoOn(state)) {
    prefetch(state)
  } else {
    pause(state)
    draw(state)
  }
}

function pause(state) {
  state.playing = false
  state.bound = null
  cancelAnimationFrame(state.timer)
}

function key(state, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return
  const onButton = event.target.closest("button")
  const actions = { ArrowLeft: "back", ArrowRight: "step", Home: "start", " ": onButton ? null : "play" }
  if (event.key === "End") show(state, lastFrame(state.reel))
  else if (actions[event.key]) ACTIONS[actions[event.key]](state)
  else return
  event.preventDefault()
}

// ---- drawing --------------------------------------------------------------------------------------------------------

function draw(state) {
  const { root, reel, meta } = state
  if (!meta || !reel.frames.length) return
  const theme = (state.theme = readTheme(root, meta.palette))
  drawTransport(state.transport, state, theme)
  drawChips(state.chips, state, theme)
  drawChoice(state.choice, state)
  drawAxis(state.axis, state, theme)
  Object.assign(root.dataset, {
    film: reel.film, frame: String(state.at), frames: String(reel.frames.length), playing: String(state.playing),
  })
  markPainted(root)
}
