import { chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { announcer, later, markPainted, mounted, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { listenToCells } from "./cells.js"
import { compute } from "./chain.js"
import { askable, classQuestion } from "./class_question.js"
import { without } from "./edits.js"
import { explained } from "./explain.js"
import { fit } from "./fit.js"
import { placeKnobs } from "./knobs.js"
import { knobsOf } from "./live.js"
import { matrixView, paintMatrix } from "./matrix.js"
import { aboutOf, titleOf } from "./named.js"
import { overview, paintOverview } from "./overview.js"
import { followShown, tellShown } from "./shown.js"
import { operatorBefore, viewsOf } from "./stage.js"
import { listenToTyping, placeSlide, takeOver } from "./typing.js"
/** @import { Host } from "../shared/types" */
/** @import { Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".step-by-step", { create, receive, draw, end, follow: (state, told) => followShown(state, told, draw) })
}

function end(state) {
  clearTimeout(state.playing)
  clearTimeout(state.typing)
  clearTimeout(state.turning)
}

const CELL_TIME = 420 // milliseconds that play shows a number
const STEP_TIME = 5000 // milliseconds that play shows a step, at most
const TYPING_TIME = 300 // milliseconds by which typed numbers are debounced

function create(root) {
  const state = /** @type {any} */ ({ root, frame: 0, asking: 0, playing: 0, typing: 0, turning: 0, turned: "", at: null, picked: null, revealed: new Set(), focused: null, act: { editTo, stop, follow, point, choose } })
  const button = (name, does) => {
    const made = element("button", { type: "button", className: name })
    made.addEventListener("click", does)
    return made
  }
  state.back = button("back", () => goBy(state, -1))
  state.play = button("play", () => (state.playing ? stop(state) : play(state)))
  state.next = button("next", () => goBy(state, 1))
  state.cover = button("ask", () => askWhat(state, !state.ask))
  state.reset = button("reset", () => editTo(state, without(state.edits, state.usual)))
  state.pass = button("pass", () => askClass(state))
  state.bar = element("div", { className: "bar" }, state.back, state.play, state.next, state.cover, state.pass, state.reset)
  state.knobRow = element("div", { className: "knobs", hidden: true })
  state.way = element("div", { className: "way" })
  state.title = element("div", { className: "title" })
  state.stage = element("div", { className: "stage", tabindex: -1 }) // takes the focus on click, which would otherwise go to the page around it
  state.sum = element("div", { className: "sum", "aria-live": "off" })
  state.slide = element("input", { type: "range", step: 0.1 })
  state.slideName = element("span")
  state.slideRow = element("label", { className: "slide", hidden: true }, state.slideName, state.slide)
  state.problem = element("div", { className: "problem", role: "alert" })
  state.live = element("div", { className: "spoken", "aria-live": "polite" })
  state.announce = announcer(state.live)
  root.replaceChildren(state.knobRow, state.bar, state.way, state.title, state.stage, state.slideRow, state.problem, state.sum, state.live)
  listenToCells(state)
  listenToTyping(state)
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  const before = state.edits
  state.meta = meta
  state.edits = reconcile(state, "edits", meta.edits)
  state.knobs = reconcile(state, "knobs", knobsOf(meta.chain))
  state.step = reconcile(state, "step", meta.step)
  state.ask = reconcile(state, "ask", meta.ask)
  compute(state)
  if (state.edits !== before) takeOver(state)
}

const openStep = (state) => state.chain.steps.find((step) => step.id === state.step)

/** @param {State} state */
function draw(state) {
  const { root, meta, chain } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  const shapes = Object.entries(chain.matrices).map(([name, one]) => [name, one.rows, one.columns, one.name])
  const made = JSON.stringify([state.step, shapes, meta.texts, chain.steps.map((step) => [step.id, step.title])])
  const anew = state.made !== made
  placeKnobs(state)
  if (anew) build(state)
  state.made = made
  fit(state)
  refresh(state)
  if (anew) showOpen(state) // after the small pictures have their size
}

// Build the tables of the open step. They are rebuilt only for another step or shape, so that the input being typed in
// is kept.
function build(state) {
  const { meta, chain } = state
  const { texts } = meta
  const step = openStep(state)
  state.at = state.picked = state.focused = null
  const line = overview(chain, texts, (id) => go(state, id))
  state.way.replaceChildren(line.line)
  state.buttons = line.buttons
  state.views = viewsOf(step, chain).map(({ id, turned }) => matrixView(chain.matrices[id], {
    id, turned, texts, result: id === step.result, edit: id in state.numbers,
  }))
  state.operators = state.views.map(() => element("span", { className: "operator" }))
  state.stage.replaceChildren(...state.views.flatMap((view, i) => [state.operators[i], view.table]))
  const number = chain.steps.indexOf(step) + 1
  state.about = element("span")
  state.title.replaceChildren(element("b", { textContent: `${number}. ${titleOf(step, texts)}` }), state.about)
}

// Scroll the open step to the middle of the line if the line is wider than the page.
function showOpen(state) {
  const button = state.buttons.find((one) => one.id === state.step).button
  const line = button.parentElement
  line.scrollLeft = button.offsetLeft - (line.clientWidth - button.offsetWidth) / 2
}

function refresh(state) {
  const { meta, chain, theme, views } = state
  const { texts } = meta
  const step = openStep(state)
  state.about.textContent = aboutOf(step, texts)
  state.operators.forEach((one, i) => (one.textContent = operatorBefore(step, i, views.length, texts)))
  const at = state.at ?? state.picked ?? firstLook(state)
  const told = at ? explained(chain, step, at[0], at[1], texts) : { lit: [], lines: [] }
  const isCovered = (id, i, j) => id === state.step && coveredAt(state, [i, j])
  const covered = (i, j) => coveredAt(state, [i, j])
  for (const view of views) paintMatrix(view, chain.matrices[view.id], { theme, texts, lit: told.lit, covered, at })
  paintOverview(state.buttons, chain, state.step, theme, isCovered)
  const hidden = at && covered(at[0], at[1])
  const hints = mayAsk(state) ? [texts.ask_hint_class] : mayChoose(state) ? [texts.ask_hint] : []
  const lines = hidden ? [(told.lines[0] ?? "").replace(/ = [^=]*$/, " = ?"), ...hints] : told.lines
  state.sum.replaceChildren(...(lines.length ? lines : [texts.hint ?? ""]).map((line) => element("div", { textContent: line })))
  state.sum.classList.toggle("empty", !lines.length)
  nameButtons(state)
  placeSlide(state)
  state.pass.hidden = !(hidden && mayAsk(state) && askable(chain, step, at[0], at[1]))
  Object.assign(state.root.dataset, { step: state.step, at: (state.at ?? state.picked)?.join(" ") ?? "", edits: state.edits, playing: state.playing ? "1" : "" })
  tellShown(state)
  markPainted(state.root)
}

// The number that is explained until the reader points at one: the largest of the last row; null if numbers are
// covered.
/** @type {(state: State) => [number, number] | null} */
function firstLook(state) {
  const step = openStep(state)
  if (state.ask || state.playing || step.kind === "given" || step.kind === "model") return null
  const { values } = state.chain.matrices[step.result]
  const sizes = (values.at(-1) ?? []).map((value) => (Number.isFinite(value) ? Math.abs(value) : -1))
  const largest = Math.max(...sizes)
  return largest < 0 ? null : [values.length - 1, sizes.indexOf(largest)]
}

function nameButtons(state) {
  const { texts } = state.meta
  const order = state.chain.steps.indexOf(openStep(state))
  const say = (button, words) => (button.textContent = words)
  say(state.back, `‹ ${texts.back}`)
  say(state.next, `${texts.next} ›`)
  say(state.play, state.playing ? texts.stop : texts.play)
  say(state.cover, state.ask ? texts.show_all : texts.ask)
  say(state.pass, texts.ask_class)
  say(state.reset, texts.reset)
  state.back.disabled = held(state) || order === 0
  state.next.disabled = held(state) || order === state.chain.steps.length - 1
  state.play.disabled = held(state)
  for (const { button } of state.buttons) button.disabled = held(state)
  state.cover.setAttribute("aria-pressed", String(state.ask))
  state.cover.hidden = !mayChoose(state)
  state.reset.hidden = without(state.edits, state.usual) === state.edits
}

// ---- what the reader does -------------------------------------------------------------------------------------------

function go(state, id) {
  if (held(state)) return
  state.step = id
  chosen(state, "step", id)
  tell(state, "step", id, state.playing ? 0 : 150)
  state.problem.textContent = ""
  draw(state)
  const [step, { texts }] = [openStep(state), state.meta]
  state.announce(`${titleOf(step, texts)} ${aboutOf(step, texts)}`)
}

function goBy(state, by) {
  stop(state)
  const { steps } = state.chain
  const place = clamp(steps.indexOf(openStep(state)) + by, 0, steps.length - 1)
  if (steps[place].id !== state.step) go(state, steps[place].id)
}

const coveredAt = ({ ask, step, revealed }, [i, j]) => ask && !revealed.has(`${step} ${i} ${j}`)

// Whether a room is open and this is its teacher's page.
const mayAsk = ({ meta, follows }) => meta.room && !follows

// Whether navigation is disabled: a later step would show followers the numbers that the teacher has covered.
const held = (state) => state.ask && !mayChoose(state)

function askClass(state) {
  const at = state.at ?? state.picked
  const asked = classQuestion(state.chain, openStep(state), at[0], at[1], state.meta.texts)
  tell(state, "class", { step: state.step, row: at[0], column: at[1], ...asked })
}

function askWhat(state, ask) {
  state.ask = ask
  state.picked = null
  state.revealed.clear()
  chosen(state, "ask", ask)
  tell(state, "ask", ask)
  refresh(state)
}

function choose(state, at) {
  stop(state)
  // a number that the class can be asked is uncovered by a second click only, and for followers by the teacher's click
  const waits = mayAsk(state) && coveredAt(state, at) && String(at) !== String(state.picked)
  if (state.ask && !waits && !held(state)) state.revealed.add(`${state.step} ${at[0]} ${at[1]}`)
  state.at = state.picked = at
  refresh(state)
  state.announce(state.sum.textContent)
}

function point(state, at) {
  if (String(at) === String(state.at)) return
  state.at = at
  refresh(state)
}

// Play shows every number of a step and then goes on to the next; from the last step it starts at the first. The host
// may replace the steps meanwhile, so they are looked up each time.
function play(state) {
  if (openStep(state) === state.chain.steps.at(-1)) go(state, state.chain.steps[0].id)
  const walk = () => {
    const cells = state.views.find((view) => view.result).cells
    const [rows, columns] = [cells.length, cells[0].length]
    const next = state.at ? state.at[0] * columns + state.at[1] + 1 : 0
    if (next < rows * columns) point(state, [Math.floor(next / columns), next % columns])
    else {
      const { steps } = state.chain
      const place = steps.indexOf(openStep(state)) + 1
      if (place === steps.length) return stop(state)
      go(state, steps[place].id)
    }
    state.playing = setTimeout(walk, Math.min(CELL_TIME, STEP_TIME / (rows * columns)))
    if (state.at === null) refresh(state)
  }
  state.playing = setTimeout(walk, 0)
  refresh(state)
}

function stop(state) {
  clearTimeout(state.playing)
  if (!state.playing) return
  state.playing = 0
  refresh(state)
}

function editTo(state, edits) {
  state.edits = edits
  chosen(state, "edits", edits)
  clearTimeout(state.typing) // a separate timer, so that opening another step does not cancel it
  state.typing = setTimeout(() => state.send("numbers", state.edits), TYPING_TIME)
  compute(state)
  refresh(state)
}

// A knob has moved: compute at once, draw at most once per frame.
function follow(state) {
  compute(state)
  later(state, () => {
    placeKnobs(state)
    refresh(state)
  })
}
