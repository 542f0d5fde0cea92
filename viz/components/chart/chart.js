import { chosen, reconcile } from "../shared/choice.js"
import { element, svg } from "../shared/dom.js"
import { pointed } from "../shared/follow.js"
import { later, markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { tidy } from "../shared/words.js"
/** @import { Host } from "../shared/types" */
/** @import { ChartDrawing, Slider, Meta, State } from "./types" */

const REST = 200 // milliseconds until the host is told the slider's position

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".chart", { create, receive, draw, follow, end: (state) => clearTimeout(state.turning) })
}

function create(root) {
  const legend = element("div", { className: "legend" })
  const plot = element("div", { className: "plot", role: "img" })
  const below = element("div", { className: "below" })
  const slideName = element("span")
  const slide = element("input", { type: "range", min: 0, step: 1 })
  const slideValue = element("output")
  const slideRow = element("label", { className: "knob", hidden: true }, slideName, slide, slideValue)
  const said = element("div", { className: "said" })
  const picture = element("div", { className: "picture", role: "img" })
  root.append(slideRow, said, legend, plot, below, picture)
  const kept = { kept: new Map(), pictures: new Map() }
  const state = /** @type {any} */ ({ legend, plot, below, slide, slideRow, slideName, slideValue, said, picture, ...kept, turning: 0 })
  slide.addEventListener("input", () => turn(state))
  slide.addEventListener("change", () => rest(state))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  const { root, legend, plot, below, slideRow, slideName, slide } = state
  const knob = meta.knob
  state.meta = meta
  state.kept.clear()
  state.pictures.clear()
  plot.setAttribute("aria-label", meta.label)
  const pictured = Boolean(knob?.pictures.length)
  state.picture.hidden = !pictured
  root.style.height = pictured ? "auto" : `${meta.height}px` // the height if only a picture is below the plot
  plot.style.flex = pictured ? `0 0 ${meta.height}px` : ""
  legend.hidden = below.hidden = !meta.below
  root.classList.toggle("bars", !meta.below)
  plot.style.marginLeft = `${meta.left}px`
  plot.style.marginRight = `${meta.right}px`
  below.textContent = meta.below
  slideRow.hidden = state.said.hidden = !knob
  if (knob) {
    slideName.textContent = knob.label
    slide.max = String(knob.values.length - 1)
    slide.value = String(knob.values.indexOf(reconcile(state, "knob", knob.at)))
  }
  show(state)
}

// The chart, or the one at the slider's position.
/** @param {State} state */
function show(state) {
  const { meta, plot, legend, slide, slideValue, said, picture } = state
  const { knob } = meta
  state.at = knob ? Number(slide.value) : -1
  /** @type {ChartDrawing} */
  const drawn = knob ? knob.frames[state.at] : meta
  plot.replaceChildren(parsed(state.kept, state.at, drawn.svg))
  legend.replaceChildren(...drawn.legend.map(entry))
  if (!knob) return
  said.textContent = knob.said[state.at]
  picture.replaceChildren(...knob.pictures.slice(state.at, state.at + 1).map((one) => parsed(state.pictures, state.at, one)))
  picture.setAttribute("aria-label", knob.said[state.at])
  slideValue.textContent = knob.names[state.at] ?? tidy(String(knob.values[state.at]))
  slide.setAttribute("aria-valuetext", slideValue.textContent)
  pointed(state, { of: placesOf(knob), at: state.at })
}

/** @type {(kept: Map<number, Node>, at: number, written: string) => Node} */
function parsed(kept, at, written) {
  const found = kept.get(at) ?? new DOMParser().parseFromString(written, "image/svg+xml").documentElement
  kept.set(at, found)
  return found
}

/** @param {Slider} knob */
const placesOf = ({ label, values }) => [label, values.length, values[0], values.at(-1)].join()

// Where another user has moved the slider over the same charts.
/** @type {(state: State, told: { of: string, at: number }) => void} */
function follow(state, { of, at }) {
  const { knob } = state.meta
  if (!knob || of !== placesOf(knob)) return
  state.slide.value = String(at)
  chosen(state, "knob", knob.values[at])
  show(state)
  markPainted(state.root)
}

/** @param {State} state */
const valueOf = ({ meta, slide }) => meta.knob?.values[Number(slide.value)]

// The slider was released, or a key was pressed, possibly one of several.
/** @param {State} state */
function rest(state) {
  clearTimeout(state.turning)
  state.turning = setTimeout(() => state.send("knob", valueOf(state)), REST)
}

/** @param {State} state */
function turn(state) {
  chosen(state, "knob", valueOf(state))
  later(state, () => {
    show(state)
    markPainted(state.root)
  })
}

/** @param {State} state */
function draw({ root }) {
  readTheme(root)
  markPainted(root)
}

/** @param {Meta["legend"][number]} line */
function entry({ name, color, dash }) {
  const line = svg("path", { class: `line s${color}`, d: "M1 5h26", stroke: "currentColor", "stroke-width": 2.2, "stroke-dasharray": dash })
  return element("span", {}, svg("svg", { width: 28, height: 10 }, line), name)
}
