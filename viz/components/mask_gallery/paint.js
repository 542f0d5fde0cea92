// Paints the small pictures and the large one, each as an image of one pixel per cell, enlarged without smoothing.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { paintPixels, wordOf } from "../shared/pixels.js"
import { css, inkOn, mix, rampColor } from "../shared/theme.js"
import { stepOf } from "../shared/ticks.js"
import { isolate } from "../shared/words.js"
import { isFuture, isHidden, LABEL, LEAN, LONGEST_LABEL } from "./layout.js"
/** @import { State } from "./types" */

const KEPT = 0.76 // places on the ramp of weights: what is seen at once,
const HEARD = 0.5 // what is heard of in the second layer,
const LAST = 0.16 // and what only in the model's last one
const REGIONS = [0.8, 0.5, 0.24] // same chunk, the one before, farther back

/** @param {State} state */
export function colorsOf({ theme, meta }) {
  const last = Math.max(2, meta.n_layers)
  return {
    paper: theme.background,
    layer: (layer) => rampColor(theme.sequential, layer === 1 ? KEPT : HEARD + ((LAST - HEARD) * (layer - 2)) / Math.max(1, last - 2)),
    region: (region) => rampColor(theme.sequential, REGIONS[region]),
  }
}

export function paintSmall(state, canvas, i) {
  const { small, tile } = state
  const side = small.shape[1]
  const colors = colorsOf(state)
  const words = Array.from({ length: 201 }, (_, share) => (share ? wordOf(mix(colors.paper, colors.layer(1), share / 200)) : CLEAR))
  for (const region of [0, 1, 2]) words[251 + region] = wordOf(colors.region(region))
  words[255] = wordOf(colors.paper)
  paintPixels(tile, side, side, (at) => words[small[i * side * side + at]])
  const [width, height] = [canvas.clientWidth || side, canvas.clientHeight || side]
  const context = sizeCanvas(canvas, width, height)
  context.fillStyle = hatch(context, state.theme)
  context.fillRect(0, 0, width, height)
  context.imageSmoothingEnabled = false
  context.drawImage(tile, 0, 0, width, height)
}

// The current colour of a cell: a painted one changes at once, its consequences when the host has answered.
/** @param {State} state */
function cellColors(state) {
  const { n, reached, region, shown, hidden, meta } = state
  const colors = colorsOf(state)
  const [none, future] = [CLEAR, wordOf(colors.paper)]
  if (region) {
    const words = [0, 1, 2].map((one) => wordOf(colors.region(one)))
    return (at) => words[region[at]] ?? future
  }
  const words = Array.from({ length: meta.n_layers + 1 }, (_, layer) => wordOf(colors.layer(layer)))
  return (at) => {
    const [query, key] = [Math.floor(at / n), at % n]
    if (hidden.size && reached[at] === 1 && isHidden(state, query, key)) return none
    if (reached[at] && reached[at] <= shown) return words[reached[at]]
    return isFuture(state, query, key) ? future : none
  }
}

export function paintLarge(state) {
  const { canvas, tile, layout, theme, n } = state
  const { x, y, cell, side, width, height } = layout
  paintPixels(tile, n, n, cellColors(state))
  const context = sizeCanvas(canvas, width, height)
  context.direction = "ltr"
  context.fillStyle = hatch(context, theme) // shows where the tile is clear
  context.fillRect(x, y, side, side)
  context.imageSmoothingEnabled = false
  context.drawImage(tile, x, y, side, side)
  if (cell >= 7) paintGrid(context, state)
  if (state.distance && cell >= 17) paintDistances(context, state)
  paintByHand(context, state)
  paintLabels(context, state, 0)
  paintLabels(context, state, 1)
  paintAxes(context, state)
  const frame = (color, query, key, columns) => {
    context.strokeStyle = css(color)
    context.lineWidth = 1.75
    context.strokeRect(x + key * cell, y + query * cell, columns * cell, cell)
  }
  if (state.query !== null && state.query < n) frame(theme.query, state.query, 0, n)
  if (state.hovered) frame(theme.text, ...state.hovered, 1)
}

function paintGrid(context, { layout, theme, n }) {
  const { x, y, cell, side } = layout
  context.fillStyle = css(theme.background)
  for (let i = 1; i < n; i++) {
    context.fillRect(x + i * cell - 0.5, y, 1, side)
    context.fillRect(x, y + i * cell - 0.5, side, 1)
  }
}

// How far away each key seems, in its cell.
function paintDistances(context, state) {
  const { layout, theme, n, distance, region } = state
  const { x, y, cell } = layout
  const colors = colorsOf(state)
  context.font = `${clamp(cell * 0.42, 8, 13)}px ${theme.font}`
  Object.assign(context, { textAlign: "center", textBaseline: "middle" })
  for (let query = 0; query < n; query++) {
    for (let key = 0; key <= query; key++) {
      context.fillStyle = css(inkOn(colors.region(region[query * n + key])))
      context.fillText(String(distance[query * n + key]), x + (key + 0.5) * cell, y + (query + 0.5) * cell + 0.5)
    }
  }
}

function paintByHand(context, state) {
  const { hidden, layout, theme } = state
  const { x, y, cell } = layout
  context.strokeStyle = css(theme.compare)
  context.lineWidth = cell > 10 ? 1.5 : 1
  context.beginPath()
  for (const one of hidden) {
    const [query, key] = one.split(",").map(Number)
    if (!isHidden(state, query, key)) continue
    const inset = cell * 0.24
    const [left, top] = [x + key * cell + inset, y + query * cell + inset]
    const size = cell - 2 * inset
    context.moveTo(left, top)
    context.lineTo(left + size, top + size)
    context.moveTo(left + size, top)
    context.lineTo(left, top + size)
  }
  context.stroke()
}

function paintLabels(context, state, axis) {
  const { layout, theme, meta, n, hovered, query } = state
  const { x, y, cell } = layout
  const size = cell > 11.5 ? clamp(cell - 2, 10, LABEL) : 10.5
  const pinned = axis === 0 ? [hovered?.[0], query] : [hovered?.[1]]
  const marked = pinned.filter((place) => place !== null && place !== undefined && place < n)
  const every = stepOf(12, cell)
  const places = new Set(marked)
  for (let place = 0; place < n; place += every) {
    if (!marked.some((other) => other !== place && Math.abs(other - place) * cell < 12)) places.add(place)
  }
  context.font = `${size}px ${theme.font}`
  context.textBaseline = "middle"
  for (const place of places) {
    context.save()
    context.fillStyle = css(!marked.includes(place) ? theme.text : axis === 0 ? theme.query : theme.key)
    const label = isolate(fitText(context, meta.tokens[place], LONGEST_LABEL))
    if (axis === 0) {
      context.textAlign = "right"
      context.fillText(label, x - 8, y + (place + 0.5) * cell + 0.5)
    } else {
      context.textAlign = "left"
      context.translate(x + (place + 0.5) * cell, y - 7)
      context.rotate(-LEAN)
      context.fillText(label, 0, 0)
    }
    context.restore()
  }
}

function paintAxes(context, { layout, theme, meta }) {
  const { x, y, side, width } = layout
  context.save()
  context.font = `11px ${theme.font}`
  context.textBaseline = "alphabetic"
  context.textAlign = "center"
  context.fillStyle = css(theme.key)
  const half = context.measureText(meta.texts.axis_key).width / 2
  context.fillText(meta.texts.axis_key, clamp(x + side / 2, half, Math.max(half, width - half)), 11)
  context.fillStyle = css(theme.query)
  context.translate(11, y + side / 2)
  context.rotate(-Math.PI / 2)
  context.fillText(meta.texts.axis_query, 0, 0)
  context.restore()
}
