import { sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { extent, padded } from "../shared/numbers.js"
import { paintPixels } from "../shared/pixels.js"
import { inRoom } from "../shared/room.js"
import { markPainted, mounted } from "../shared/shell.js"
import { css, mix, ramp, readTheme } from "../shared/theme.js"
import { roundTicks } from "../shared/ticks.js"
import { fill, formatPlain } from "../shared/words.js"
import { curve, rule, write } from "./axis.js"
/** @import { Host } from "../shared/types" */
/** @import { SchemesMeta, SchemesState } from "./types" */

const CURVE_HEIGHT = 116
const LARGEST_MATRIX = 156
const ONE_COLUMN = 900 // below this width the schemes are stacked; the style sheet has the same number

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".position-schemes", { create, receive, draw })
}

const create = () => ({ cards: [] })

/**
 * @param {SchemesState} state
 * @param {{ meta: SchemesMeta, arrays: SchemesState["arrays"] }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, arrays })
  state.cards = meta.schemes.map((scheme, i) => card(state, scheme, i))
  state.root.replaceChildren(element("div", { className: "cards" }, ...state.cards.map((one) => one.node)))
}

/** @param {SchemesState} state */
function card({ meta, arrays }, scheme, i) {
  const { texts } = meta
  const matrix = arrays[`matrix${i}`]
  const curves = arrays[`curves${i}`]
  const map = element("canvas", { className: "matrix", role: "img", "aria-label": fill(texts.matrix, { scheme: scheme.label }) })
  const chart = element("canvas", { className: "chart", role: "img", "aria-label": curveWords(texts, scheme, curves) })
  const facts = ["enters", "stores", "depends", "extrapolates"].map((name) =>
    element("p", { className: "fact" }, element("span", { textContent: texts[name] ?? "" }), scheme[name]),
  )
  const pictures = element("div", { className: "pictures" }, map, element("p", { className: "formula", textContent: scheme.formula }), chart)
  const node = element(
    "section", { className: "card", "data-scheme": scheme.name },
    element("h2", { textContent: scheme.label }), pictures, element("p", { className: "note", textContent: scheme.note }),
    ...facts, element("p", { className: "paper", textContent: scheme.paper }),
  )
  return { node, map, chart, pictures, matrix, curves, scheme }
}

function curveWords(texts, scheme, curves) {
  const count = curves.shape[1]
  const at = (distance) => formatPlain(curves[distance])
  return fill(texts.curve, { scheme: scheme.label, zero: at(0), one: at(1), last: at(count - 1), far: count - 1 })
}

/** @param {SchemesState} state */
function draw(state) {
  const { root, meta } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  for (const one of state.cards) {
    const width = one.pictures.clientWidth
    paintMatrix(state, one, Math.min(width - 4, inRoom(LARGEST_MATRIX)))
    const beside = root.clientWidth <= ONE_COLUMN ? inRoom(LARGEST_MATRIX) + 18 : 0
    paintCurves(state, one, Math.min(width - beside, 300))
  }
  markPainted(root)
}

// Rows are queries, columns keys. A bias that depends only on the difference is constant along diagonals.
/** @param {SchemesState} state */
function paintMatrix({ theme, meta }, { map, matrix }, side) {
  const count = matrix.shape[0]
  const context = sizeCanvas(map, side + 2, side + 16)
  const most = Math.max(...extent(matrix).map(Math.abs)) || 1
  const colors = ramp(theme.diverging)
  const tile = document.createElement("canvas")
  paintPixels(tile, count, count, (i) => {
    const value = matrix[i]
    return value !== value ? CLEAR : colors[Math.round((value / most + 1) * 127.5)] // NaN is not itself
  })
  context.fillStyle = hatch(context, theme) // shows where the tile is transparent
  context.fillRect(1, 1, side, side)
  context.imageSmoothingEnabled = false
  context.drawImage(tile, 1, 1, side, side)
  Object.assign(context, { strokeStyle: css(theme.rule), lineWidth: 1 })
  context.strokeRect(0.5, 0.5, side + 1, side + 1)
  write(context, theme, fill(meta.texts.axes, { count: count - 1 }), 1, side + 13, { size: 10 })
}

/** @param {SchemesState} state */
function paintCurves({ theme, meta }, { chart, curves, scheme }, width) {
  const [lines, count] = curves.shape
  const height = inRoom(CURVE_HEIGHT)
  const context = sizeCanvas(chart, width, height)
  context.direction = "ltr"
  const box = { left: 38, right: width - 6, top: 8, bottom: height - 32 }
  const range = padded(extent(curves), 0.06)
  const x = (distance) => box.left + (distance / (count - 1)) * (box.right - box.left)
  const y = (value) => box.bottom - ((value - range[0]) / (range[1] - range[0])) * (box.bottom - box.top)
  for (const tick of roundTicks(...range, 3)) {
    rule(context, css(theme.rule), box.left, y(tick), box.right, y(tick))
    write(context, theme, formatPlain(tick), box.left - 4, y(tick), { align: "right", baseline: "middle", size: 10 })
  }
  for (const tick of [0, Math.floor((count - 1) / 2), count - 1]) {
    write(context, theme, String(tick), x(tick), box.bottom + 12, { align: "center", size: 10 })
  }
  write(context, theme, meta.texts.distance, (box.left + box.right) / 2, box.bottom + 26, { align: "center", size: 10 })
  for (let line = lines - 1; line >= 0; line--) {
    const color = mix(theme.background, theme.primary, lines === 1 ? 1 : 1 - (0.7 * line) / (lines - 1))
    const values = curves.subarray(line * count, (line + 1) * count)
    const points = scheme.steps ? Array.from(values, (value, i) => [[x(Math.max(0, i - 0.5)), y(value)], [x(Math.min(count - 1, i + 0.5)), y(value)]]).flat() : Array.from(values, (value, i) => [x(i), y(value)])
    curve(context, css(color), points, lines === 1 ? 1.75 : 1.25)
  }
}
