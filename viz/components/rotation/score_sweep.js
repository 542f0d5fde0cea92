import { fitText, sizeCanvas } from "../shared/canvas.js"
import { adopt, chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { pictured, pointed } from "../shared/follow.js"
import { bringIntoView } from "../shared/in_view.js"
import { clamp, extent, padded } from "../shared/numbers.js"
import { inRoom, pointIn } from "../shared/room.js"
import { announcer, later, markPainted, mounted, tell } from "../shared/shell.js"
import { css, mix, readTheme } from "../shared/theme.js"
import { roundTicks } from "../shared/ticks.js"
import { fill, formatPlain, tidy, wholeNumber } from "../shared/words.js"
import { curve, disc, rule, SMALL, write } from "./axis.js"
/** @import { Host } from "../shared/types" */
/** @import { SweepArrays, SweepAt, SweepMeta, SweepState } from "./types" */

const NARROW_VIEW = 720
const PANEL_GAP = 10

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".score-sweep", { create, receive, draw, follow })
}

function create(root) {
  const state = {
    root, distance: null, hovered: null, frame: 0,
    readout: element("div", { className: "readout" }),
    large: element("canvas", { role: "img", tabIndex: 0 }),
    panels: element("canvas", { role: "img", tabIndex: 0 }),
    notes: element("div", { className: "notes" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
  }
  state.announce = announcer(state.live)
  root.replaceChildren(state.readout, element("div", { className: "figure" }, state.large, state.panels), state.notes, state.live)
  listen(state)
  return state
}

/**
 * @param {SweepState} state
 * @param {{ meta: SweepMeta, arrays: SweepArrays }} payload
 */
function receive(state, { meta, arrays }) {
  const [heads, count] = arrays.scores.shape
  const curves = Array.from({ length: heads }, (_, head) => arrays.scores.subarray(head * count, (head + 1) * count))
  const there = curves.map((one) => !Number.isNaN(one[0])) // false for a head without scores to draw
  const ranges = curves.map((one, head) => (there[head] ? extent(one) : [0, 0]))
  const peaks = curves.map((one) => one.indexOf(Math.max(...one)))
  Object.assign(state, { meta, curves, there, ranges, peaks, distances: Array.from(arrays.distances) })
  state.span = Math.max(...ranges.map(([low, high]) => high - low)) || 1
  pictured(state, [meta.layer, heads, count], ["head"])
  state.head = clamp(reconcile(state, "head", meta.head), 0, heads - 1)
  state.hovered = state.distance = null
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/** @param {SweepState} state */
function draw(state) {
  const { root, meta } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  const narrow = width < NARROW_VIEW
  root.classList.toggle("narrow", narrow)
  const left = narrow ? width : Math.round(width * 0.46)
  paintLarge(state, left, narrow ? 280 : inRoom(430))
  paintPanels(state, narrow ? width : width - left - 28, narrow ? 420 : inRoom(430))
  const words = headWords(state, state.hovered ?? state.head)
  if (state.readout.textContent !== words) {
    state.readout.textContent = words
    state.announce(words)
  }
  state.large.setAttribute("aria-label", words)
  state.panels.setAttribute("aria-label", state.curves.map((_, head) => headWords(state, head)).join(" "))
  state.notes.textContent = [meta.texts.how, ...meta.notes].join(" ")
  Object.assign(root.dataset, { head: state.head, distance: state.distance ?? "", peak: state.distances[state.peaks[state.head]] })
  markPainted(root)
  pointed(state, { of: state.pictured, head: state.head, hovered: state.hovered, distance: state.distance })
}

// Show the heads that another user chose and points at, and their distance, for the same layer.
/**
 * @param {SweepState} state
 * @param {SweepAt} at
 */
function follow(state, { of, head, hovered, distance }) {
  const missing = (one) => one !== null && !state.curves[one]
  if (of !== state.pictured || missing(head) || missing(hovered)) return
  if (distance !== null && !state.distances.includes(distance)) return
  Object.assign(state, { head, hovered, distance })
  adopt(state, "head", head)
  later(state)
}

/** @param {SweepState} state */
const nameOf = ({ meta }, head) => `L${meta.layer}H${head}`

/** @param {SweepState} state */
const sameGroup = ({ meta }, one, other) => Math.floor(one / meta.group) === Math.floor(other / meta.group)

/** @param {SweepState} state */
function groupWords({ meta, head }) {
  const first = head - (head % meta.group)
  return fill(meta.texts.shared, { heads: `H${first}–H${first + meta.group - 1}` })
}

/** @param {SweepState} state */
function headWords(state, head) {
  const { meta, curves, distances, peaks, distance } = state
  if (!state.there[head]) return fill(meta.texts.none, { head: nameOf(state, head) })
  const [best, here] = [peaks[head], distance === null ? null : distances.indexOf(distance)]
  const facts = { head: nameOf(state, head), peak: distances[best], score: scoreWords(curves[head][best]), fact: meta.facts[head] ?? "" }
  const parts = [fill(meta.texts.peak, facts)]
  if (meta.facts[head]) parts.push(fill(meta.texts.fact, facts))
  if (here !== null && here >= 0) parts.push(fill(meta.texts.at, { distance, score: scoreWords(curves[head][here]) }))
  if (meta.group > 1 && sameGroup(state, head, state.head)) parts.push(groupWords(state))
  return parts.join(" ")
}

const scoreWords = (score) => tidy(score.toFixed(2))

/** @param {SweepState} state */
function paintLarge(state, width, height) {
  const { large, theme, meta, curves, distances, ranges, head, peaks } = state
  const context = sizeCanvas(large, width, height)
  context.direction = "ltr"
  const box = { left: 52, right: width - 8, top: 30, bottom: height - 40 }
  const range = padded(ranges[head])
  const x = (distance) => box.left + ((distance - distances[0]) / (distances[distances.length - 1] - distances[0] || 1)) * (box.right - box.left)
  const y = (value) => box.bottom - ((value - range[0]) / (range[1] - range[0])) * (box.bottom - box.top)
  Object.assign(state, { x, box })
  write(context, theme, nameOf(state, head), box.left, 14, { color: theme.text, size: 13, bold: true })
  for (const tick of roundTicks(...range, 6)) {
    rule(context, css(theme.rule), box.left, y(tick), box.right, y(tick))
    write(context, theme, formatPlain(tick), box.left - 6, y(tick), { align: "right", baseline: "middle" })
  }
  for (const tick of roundTicks(distances[0], distances[distances.length - 1], 8).filter(Number.isInteger)) {
    write(context, theme, wholeNumber(tick), x(tick), box.bottom + 15, { align: "center" })
  }
  write(context, theme, meta.texts.axis_distance, (box.left + box.right) / 2, box.bottom + 32, { align: "center" })
  write(context, theme, meta.texts.axis_score, box.right, 14, { align: "right" })
  if (!state.there[head]) return // the page explains why
  const points = distances.map((distance, i) => [x(distance), y(curves[head][i])])
  curve(context, css(theme.primary), points, 2)
  if (points.length <= 80) for (const [px, py] of points) disc(context, css(theme.primary), px, py, 2.5)
  const [px, py] = points[peaks[head]]
  disc(context, css(theme.background), px, py, 6.5)
  disc(context, css(theme.primary), px, py, 4.5)
  const here = state.distance === null ? -1 : distances.indexOf(state.distance)
  if (here < 0) return
  rule(context, css(theme.quiet), points[here][0], box.top, points[here][0], box.bottom, { dash: [3, 3] })
  disc(context, css(theme.text), ...points[here], 4)
}

// Every panel spans the same range of scores, so that a head that depends on distance stands out.
/** @param {SweepState} state */
function paintPanels(state, width, maxHeight) {
  const { panels, theme, curves, there, distances, ranges, peaks, meta, span } = state
  const grid = panelGrid(curves.length, width, maxHeight)
  state.grid = grid
  const context = sizeCanvas(panels, width, grid.rows * grid.pitchY)
  context.direction = "ltr"
  curves.forEach((scores, head) => {
    const left = (head % grid.columns) * grid.pitchX
    const top = Math.floor(head / grid.columns) * grid.pitchY
    const [w, h] = [grid.pitchX - PANEL_GAP, grid.pitchY - PANEL_GAP - grid.label]
    const nearest = distances[peaks[head]] === 1
    if (head === state.hovered) {
      context.fillStyle = css(theme.secondary)
      context.fillRect(left, top + grid.label, w, h)
    }
    const middle = (ranges[head][0] + ranges[head][1]) / 2
    const x = (i) => left + 3 + (i / Math.max(1, distances.length - 1)) * (w - 6)
    const y = (value) => top + grid.label + h / 2 - ((value - middle) / (span * 1.12)) * h
    if (there[head]) {
      curve(context, css(head === state.head ? theme.primary : nearest ? theme.text : theme.quiet), Array.from(scores, (value, i) => [x(i), y(value)]), head === state.head ? 1.75 : 1.25)
      disc(context, css(nearest ? theme.text : theme.quiet), x(peaks[head]), y(scores[peaks[head]]), 2.5)
    } else write(context, theme, "–", left + w / 2, top + grid.label + h / 2, { align: "center", baseline: "middle" })
    const mate = meta.group > 1 && sameGroup(state, head, state.head) // shares its keys and values with the open head
    const rim = head === state.head ? theme.primary : nearest ? theme.text : mate ? mix(theme.background, theme.primary, 0.5) : theme.rule
    Object.assign(context, { strokeStyle: css(rim), lineWidth: head === state.head ? 2 : nearest || mate ? 1.5 : 1 })
    context.strokeRect(left + 0.5, top + grid.label + 0.5, w - 1, h - 1)
    if (!grid.label) return
    context.font = `${SMALL}px ${theme.font}`
    const words = w > 96 && there[head] ? `H${head} · ${fill(meta.texts.peak_short, { peak: distances[peaks[head]] })}` : `H${head}`
    write(context, theme, fitText(context, words, w), left, top + grid.label - 5, { color: head === state.head ? theme.primary : nearest ? theme.text : theme.quiet, bold: head === state.head || nearest })
  })
  panels.dataset.geometry = JSON.stringify(grid)
}

function panelGrid(count, width, maxHeight) {
  for (let columns = Math.min(count, 2); ; columns++) {
    const pitchX = (width + PANEL_GAP) / columns
    const label = pitchX >= 44 ? 17 : 0
    const rows = Math.ceil(count / columns)
    const pitchY = Math.min(maxHeight / rows, pitchX * 0.72 + label, 128)
    if (pitchY - label - PANEL_GAP >= Math.min(60, pitchX * 0.4) || columns >= count) return { columns, rows, pitchX, pitchY, label }
  }
}

// ---- input ----------------------------------------------------------------------------------------------------------

function open(state, head) {
  state.head = head
  chosen(state, "head", head)
  tell(state, "head", head)
  bringIntoView(state.large)
  later(state)
}

function headAt({ grid, curves, panels }, event) {
  const { x, y } = pointIn(event, panels)
  const column = Math.floor(x / grid.pitchX)
  const head = Math.floor(y / grid.pitchY) * grid.columns + column
  return column >= 0 && column < grid.columns && head >= 0 && head < curves.length ? head : null
}

function listen(state) {
  const { large, panels } = state
  const look = (name, value) => {
    if (state[name] === value) return
    state[name] = value
    later(state)
  }
  panels.addEventListener("pointermove", (event) => event.pointerType !== "touch" && look("hovered", headAt(state, event)))
  panels.addEventListener("pointerleave", () => look("hovered", null))
  panels.addEventListener("click", (event) => {
    const head = headAt(state, event)
    if (head !== null) open(state, head)
  })
  large.addEventListener("pointermove", (event) => {
    const { box, distances } = state
    const share = (pointIn(event, large).x - box.left) / (box.right - box.left)
    look("distance", distances[clamp(Math.round(share * (distances.length - 1)), 0, distances.length - 1)])
  })
  large.addEventListener("pointerleave", () => look("distance", null))
  large.addEventListener("keydown", (event) => {
    const { distances } = state
    const here = state.distance === null ? state.peaks[state.head] : distances.indexOf(state.distance)
    const moves = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: distances.length - 1 }
    if (event.key === "Escape") look("distance", null)
    else if (event.key in moves) look("distance", distances[clamp(moves[event.key], 0, distances.length - 1)])
    else return
    event.preventDefault()
  })
  panels.addEventListener("keydown", (event) => {
    const { columns } = state.grid
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }
    const head = (state.hovered ?? state.head) + (moves[event.key] ?? 0)
    if (event.key in moves) look("hovered", clamp(head, 0, state.curves.length - 1))
    else if (event.key === "Enter" && state.hovered !== null) open(state, state.hovered)
    else if (event.key === "Escape") look("hovered", null)
    else return
    event.preventDefault()
  })
}
