import { chosen, forget, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { pointed } from "../shared/follow.js"
import { announcer, later, markPainted, mounted, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, isolate } from "../shared/words.js"
import { buildBars, paintBars, summaryOf } from "./bars.js"
import { buildCurve, paintCurve } from "./curve.js"
import { animateDraws, buildDraws, labelDraws, LATEST, numbersOf, paintDraws } from "./draws.js"
import { buildFinder, paintFinder } from "./finder.js"
import { buildRows, labelRows, paintRows } from "./rows.js"
import { benches, offSettings, readSeed, readSetting } from "./settings.js"
import { computeStages, drawTokens } from "./stages.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

const SEND_AFTER = 250 // milliseconds by which changes of the settings are debounced
const NARROW = 720 // below this width controls and picture are in one column

// The last settings and the data they belong to. If the component is removed and created again, the host sends the same
// data as before, and these settings are restored.
/** @type {{ data: Uint8Array | null, value: any }} */
const lastSet = { data: null, value: null }

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".sampling-bench", { create, receive, draw: redraw, follow, end: (state) => cancelAnimationFrame(state.drawing) })
}

const sameBytes = (one, other) => one?.length === other.length && one.every((byte, i) => byte === other[i])

function create(root, signal) {
  const state = /** @type {any} */ ({
    root, results: {}, compare: false, edited: "a", draws: 0, goal: 0, find: null, hoverToken: null,
    dragging: false, scale: 0, frame: 0, asking: 0, drawing: 0, shown: [], seedTyping: false,
  })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  state.announce = announcer(live, 600)
  state.act = actions(state)
  state.broken = element("p", { className: "broken", role: "alert", hidden: true })
  state.controls = element("div", { className: "controls" }, ...buildRows(state), buildFinder(state))
  const bars = element("div", { className: "bars" }, ...buildBars(state))
  state.picture = element("div", { className: "picture" }, bars, buildDraws(state), buildCurve(state))
  root.replaceChildren(state.broken, state.controls, state.picture, live)
  root.setAttribute("role", "group")
  root.addEventListener("keydown", (event) => event.key === "Escape" && state.act.mark(null), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 * @param {Uint8Array} data
 */
function receive(state, { meta, arrays }, data) {
  if (sameBytes(state.data, data)) return // a rerun sends the same data again, perhaps in the middle of a drag
  state.data = data.slice()
  if (state.meta && state.meta.start.number !== meta.start.number) forget(state, "settings") // the settings were changed outside this component
  const back = !state.meta && state.chooses && sameBytes(lastSet.data, data)
  const start = reconcile(state, "settings", back ? lastSet.value : meta.start)
  const place = state.meta && [state.meta.position, state.meta.after]
  Object.assign(state, { meta, logits: arrays.logits, previous: arrays.previous, numbers: null, lower: null, found: null })
  state.settings = { a: { ...start.a }, b: { ...start.b } }
  Object.assign(state, { compare: start.compare, goal: start.draws, draws: start.draws })
  state.find = start.find !== null && start.find < meta.labels.length ? start.find : null
  if (!state.compare) state.edited = "a"
  if (place && (place[0] !== meta.position || place[1] !== meta.after)) state.scale = 0
  state.isBroken = !rankTokens(state)
  labelRows(state)
  labelDraws(state)
  state.root.setAttribute("aria-label", meta.texts.bench)
}

// Compute the model's own distribution and ranking, once per logits. Returns false if the logits are broken.
function rankTokens(state) {
  const { logits, previous, meta } = state
  const stages = computeStages(logits, offSettings(meta), previous, meta.transforms)
  if (!stages) return false
  const { run, probabilities } = stages[0]
  const impossible = Array.from(logits.keys()).filter((token) => logits[token] === -Infinity)
  Object.assign(state, { own: probabilities, ownRun: run })
  state.order = new Int32Array(logits.length)
  state.order.set(run.ids)
  state.order.set(impossible, run.ids.length)
  state.rank = new Int32Array(logits.length)
  state.order.forEach((token, rank) => (state.rank[token] = rank))
  state.memory = { a: {}, b: {} }
  return true
}

// ---- what the settings make of it -----------------------------------------------------------------------------------

function compute(state, bench) {
  const settings = state.settings[bench]
  const stages = computeStages(state.logits, settings, state.previous, state.meta.transforms, state.memory[bench]) ?? []
  const { run, kept, probabilities: final } = stages[stages.length - 1]
  const told = stages.map((stage) => ({ kept: stage.kept, keptMass: stage.keptMass, entropy: stage.entropy, ...placeIn(stage.run, state.find) }))
  const result = /** @type {any} */ ({ stages: told, final, kept, keeps: keptTokens(run, kept, state), run, drawn: [], likeliest: run.ids.slice(run.low, Math.min(run.high, run.low + 5)), counts: null, latest: [] })
  if (state.draws) {
    const tokens = drawTokens(final, numbersOf(state, state.settings.a.seed).subarray(0, state.draws))
    result.counts = new Int32Array(final.length)
    for (const token of tokens) result.counts[token]++
    result.drawn = [...new Set(tokens)]
    result.latest = Array.from(tokens.slice(-LATEST))
  }
  return result
}

// Whether each token can still be drawn, by id. A kept token's probability may underflow to 0.
function keptTokens({ ids, low, high }, kept, { logits }) {
  const keeps = new Uint8Array(logits.length)
  if (kept === logits.length) return keeps.fill(1)
  for (let rank = low; rank < high; rank++) keeps[ids[rank]] = 1
  return keeps
}

// The marked token's probability and rank at a stage; both are 0 if it was removed.
function placeIn({ ids, weights, low, high, total }, token) {
  const at = token === null ? -1 : ids.indexOf(token, low)
  return at < 0 || at >= high ? { p: 0, rank: 0 } : { p: weights[at] / total, rank: at - low + 1 }
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {State} state */
function redraw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  state.controls.hidden = state.picture.hidden = state.isBroken
  state.narrow = root.clientWidth < NARROW
  root.classList.toggle("narrow", state.narrow)
  state.curveWidth = state.canvas.parentElement.clientWidth // measured before anything is written
  state.broken.hidden = !state.isBroken
  state.broken.textContent = meta.texts.broken
  if (!state.isBroken) {
    state.results = Object.fromEntries(benches(state).map((bench) => [bench, compute(state, bench)]))
    paintRows(state)
    paintHead(state)
    paintBars(state)
    paintDraws(state)
    paintFinder(state)
    tellFacts(state)
    paintCurve(state)
  }
  markPainted(root)
  const { settings, compare, draws, goal, find } = state
  pointed(state, { of: textOf(state), settings, compare, draws, goal, find })
}

const textOf = ({ meta }) => `${meta.labels.length} ${meta.position} ${meta.after}`

// Show the settings of another user with the same distribution, also while that user drags a slider.
/** @param {State} state */
function follow(state, { of, ...at }) {
  if (of !== textOf(state)) return
  Object.assign(state, at, { find: at.find < state.meta.labels.length ? at.find : null })
  if (!state.compare) state.edited = "a"
  chosen(state, "settings", { ...at.settings, compare: at.compare, draws: at.goal, find: state.find })
  later(state)
}

/** @param {State} state */
function paintHead(state) {
  const { texts, actual, labels, after } = state.meta
  state.barsTitle.textContent = fill(texts.after, { text: isolate(after) })
  state.wentOn.hidden = actual === null
  state.wentOn.textContent = actual === null ? "" : fill(texts.went_on, { label: isolate(labels[actual]) })
  const marks = ["model", "final", "removed", ...(state.draws ? ["drawn"] : [])]
  const words = marks.map((mark) => element("span", { className: `mark ${mark}` }, element("i"), texts[`legend_${mark}`]))
  state.legend.replaceChildren(...words)
}

// Describe the drawing in numbers, for tests, and in one sentence, for screen readers.
function tellFacts(state) {
  const { root, results } = state
  const words = summaryOf(state)
  if (root.dataset.summary !== undefined && root.dataset.summary !== words) state.announce(words)
  root.dataset.summary = words
  state.barList.setAttribute("aria-label", words)
  root.dataset.kept = benches(state).map((bench) => results[bench].kept).join(" ")
  root.dataset.draws = String(state.draws)
  root.dataset.find = state.find === null ? "" : String(state.find)
}

// ---- what the reader does -------------------------------------------------------------------------------------------

/** @param {State} state */
function actions(state) {
  const send = () => {
    const value = { a: state.settings.a, b: state.settings.b, compare: state.compare, draws: state.goal, find: state.find, number: state.meta.start.number }
    const copy = JSON.parse(JSON.stringify(value))
    chosen(state, "settings", copy)
    Object.assign(lastSet, { data: state.data, value: copy })
    tell(state, "settings", copy, SEND_AFTER)
  }
  const set = (name, value) => {
    const row = state.rowOf[name]
    const settings = state.settings[state.edited]
    Object.assign(row, { wrong: null, typing: false })
    if (settings[name] !== row.transform.off) row.remembered = settings[name] // restored by its switch
    settings[name] = value
    later(state)
  }
  const change = (name, value) => {
    set(name, value)
    send()
  }
  return {
    slide(name, value) {
      state.dragging = true
      clearTimeout(state.asking) // nothing is sent while a slider is dragged
      set(name, value)
    },
    settle() {
      state.dragging = false
      later(state)
      send()
    },
    power: (name, on) => change(name, on ? state.rowOf[name].remembered : state.meta.transforms[name].off),
    type(name, text) {
      const [transform, { texts }] = [state.meta.transforms[name], state.meta]
      const off = text.trim().toLowerCase() === texts.off.toLowerCase()
      const { value, problem } = off ? { value: transform.off } : readSetting(text, transform, texts)
      if (problem === undefined) return change(name, value)
      state.rowOf[name].wrong = problem
      later(state)
    },
    move(name, by) {
      const { order } = state.settings[state.edited]
      const at = order.indexOf(name)
      const to = at + by
      if (to < 0 || to >= order.length) return
      const moved = order.filter((other) => other !== name)
      moved.splice(to, 0, name)
      state.settings[state.edited].order = moved
      later(state)
      send()
    },
    edit(bench) {
      state.edited = bench
      for (const row of Object.values(state.rowOf)) Object.assign(row, { wrong: null, typing: false })
      later(state)
    },
    compare(on) {
      Object.assign(state, { compare: on, edited: on ? "b" : "a" })
      later(state)
      send()
    },
    reset() {
      const { settings, edited } = state
      Object.assign(settings[edited], offSettings(state.meta))
      for (const row of Object.values(state.rowOf)) Object.assign(row, { wrong: null, typing: false })
      later(state)
      send()
    },
    mark(token, { toggle = false } = {}) {
      if (token === null && state.find === null) return
      state.find = toggle && token === state.find ? null : token
      later(state)
      send()
    },
    draw(count) {
      const from = count === null ? 0 : state.draws
      state.goal = count === null ? 0 : Math.min(state.meta.most_draws, state.goal + count)
      animateDraws(state, from, state.goal)
      send()
    },
    seed(text) {
      const { value, problem } = readSeed(text, state.meta.texts)
      state.seedTyping = problem !== undefined
      state.seedProblem.hidden = problem === undefined
      state.seedProblem.textContent = problem ?? ""
      if (problem === undefined) {
        state.settings.a.seed = state.settings.b.seed = value
        send()
      }
      later(state)
    },
  }
}
