import { adopt, chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose, pictured, pointed } from "../shared/follow.js"
import { hatchImage } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { announcer, later, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { css, rampColor, readTheme } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { percent, readCell } from "./numbers.js"
import { drawPanel } from "./panel.js"
import { buildRow, buildValues, drawNext, drawPush, drawRow, drawValues } from "./row.js"
import { buildScore, buildStep, drawScore } from "./score.js"
import { buildWalk, carry, drawWalk, endCarry, lastStep, stopWalk } from "./walk.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, At, Meta, State } from "./types" */

const SEND_AFTER = 150 // milliseconds without another arrow key before the position is sent
const NARROW = 720 // below this width the steps form one column
const STEPS = ["query_key", "product", "scale", "mask", "softmax", "values", "push", "next"]

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".cell-steps", { create, receive, draw, end, follow })
}

function create(root, signal) {
  const state = /** @type {any} */ ({
    root, open: 0, dimension: null, valueDimension: null, key: null, query: null, asking: 0, frame: 0, walking: false,
    columns: [0, 1].map(() => element("div", { className: "part" })),
    panel: element("div", { className: "panel", "aria-live": "polite" }),
  })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  state.announce = announcer(live)
  state.act = actions(state)
  state.steps = STEPS.map((title, i) => buildStep(state, i + 1, title))
  state.columns[0].append(...state.steps.slice(0, 4).map((step) => step.section), state.panel)
  state.columns[1].append(...state.steps.slice(4).map((step) => step.section))
  buildScore(state)
  buildRow(state)
  buildValues(state)
  root.replaceChildren(buildWalk(state), ...state.columns, live)
  root.setAttribute("role", "group")
  root.addEventListener("keydown", (event) => onKey(state, event), { signal })
  return state
}

/** @param {State} state */
function end(state) {
  endCarry(state)
  clearTimeout(state.walk.timer)
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, arrays })
  pictured(state, [meta.head, ...meta.query], ["key", "step"])
  if (!state.asking) state.query = meta.query[1]
  const key = reconcile(state, "key", meta.key)
  state.key = arrays.positions.includes(key) ? key : meta.key // the data of this key are on their way
  state.open = Math.min(reconcile(state, "step", meta.step), lastStep(state))
  state.steps.forEach((step) => (step.words.textContent = meta.texts[step.title] ?? ""))
}

/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  state.ink = rampColor(state.theme.sequential, 0.78)
  root.style.setProperty("--aa-ink", css(state.ink))
  root.style.setProperty("--aa-masked", hatchImage(state.theme))
  state.narrow = root.clientWidth < NARROW
  root.classList.toggle("narrow", state.narrow)
  const cell = readCell(state)
  drawScore(state, cell)
  drawRow(state, cell)
  drawValues(state, cell)
  drawPush(state)
  drawNext(state)
  drawWalk(state)
  drawPanel(state, cell)
  const values = { head: meta.head, query: cell.query, key: cell.token, weight: percent(cell.weight, meta.texts) }
  const words = fill(meta.texts.label, values)
  if (root.getAttribute("aria-label") !== words) {
    if (root.hasAttribute("aria-label")) state.announce(words)
    root.setAttribute("aria-label", words)
  }
  const facts = { key: state.key, query: meta.query[1], weight: cell.weight, score: cell.visible ? state.arrays.scores[cell.at] : "masked", open: state.open, bars: state.arrays.positions.length }
  for (const [name, value] of Object.entries(facts)) root.dataset[name] = String(value)
  markPainted(root)
  const { pictured: of, key, open, dimension, valueDimension } = state
  pointed(state, { of, key, open, dimension, valueDimension })
}

// The key, the open step and the dimensions that another user looks at, for the same query.
/**
 * @param {State} state
 * @param {At} at
 */
function follow(state, { of, key, open, dimension, valueDimension }) {
  const { q, mixed, positions } = state.arrays
  const missing = (i, values) => i !== null && values[i] === undefined
  if (of !== state.pictured || !positions.includes(key) || open > lastStep(state)) return
  if (missing(dimension, q) || missing(valueDimension, mixed)) return
  const onward = open === state.open + 1
  Object.assign(state, { key, open, dimension, valueDimension, walking: false })
  adopt(state, "key", key)
  adopt(state, "step", open)
  later(state, () => {
    state.repaint()
    if (onward) carry(state, open)
  })
}

// ---- input ----------------------------------------------------------------------------------------------------------

function actions(state) {
  const repaint = () => later(state)
  // A drawn key is shown at once, any other one with the next data.
  const choose = (key, delay = 0) => {
    stopWalk(state)
    if (!mayChoose(state) && !state.arrays.positions.includes(key)) return
    chosen(state, "key", key)
    if (state.arrays.positions.includes(key)) state.key = key
    tell(state, "key", key, delay)
    draw(state)
  }
  return {
    repaint,
    choose,
    look: (query) => {
      stopWalk(state)
      if (!mayChoose(state)) return
      state.query = query
      tell(state, "query", query, SEND_AFTER)
    },
    open: (number) => {
      stopWalk(state)
      state.open = state.open === number ? 0 : number
      chosen(state, "step", state.open)
      state.send("step", state.open)
      draw(state)
    },
    hoverValue: (dimension) => {
      if (state.valueDimension === dimension) return
      state.valueDimension = dimension
      repaint()
    },
  }
}

/** @param {State} state */
function onKey(state, event) {
  if (!plainKey(event)) return
  if (event.key === "Escape" && state.walking) return stopWalk(state)
  const { act, meta } = state
  const last = meta.total - 1
  const here = state.choices.key.current ?? state.key
  const moves = {
    ArrowLeft: () => act.choose(clamp(here - 1, 0, last), SEND_AFTER),
    ArrowRight: () => act.choose(clamp(here + 1, 0, last), SEND_AFTER),
    Home: () => act.choose(0, SEND_AFTER),
    End: () => act.choose(last, SEND_AFTER),
    ArrowUp: () => act.look(clamp(state.query - 1, 0, last)),
    ArrowDown: () => act.look(clamp(state.query + 1, 0, last)),
    Escape: () => act.choose(null),
  }
  const onTitle = event.composedPath()[0].classList?.contains("title")
  if (!(event.key in moves) || (onTitle && event.key === "Escape" && state.open)) {
    if (event.key === "Escape") act.open(state.open)
    return
  }
  event.preventDefault()
  moves[event.key]()
}
