// The map of score(m, n), which is constant along its diagonals, and two sections of it: along a diagonal and across.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch } from "../shared/hatch.js"
import { clamp, extent, padded } from "../shared/numbers.js"
import { paintPixels } from "../shared/pixels.js"
import { css, ramp } from "../shared/theme.js"
import { roundTicks } from "../shared/ticks.js"
import { formatPlain, tidy, wholeNumber } from "../shared/words.js"
import { curve, disc, rule, write } from "./axis.js"
import { alongDiagonal, byDifference, CELLS, windowScores } from "./shift_scores.js"
/** @import { RGB } from "../shared/types" */
/** @import { ShiftState } from "./types" */

const MAP_EDGE = { left: 46, top: 24, right: 12, bottom: 36 }

// The window does not move while the marked cell is inside it.
function windowOf(place, before, end) {
  const most = Math.max(0, end - CELLS + 1)
  if (before !== undefined && place >= before && place < before + CELLS && before <= most) return before
  return clamp(place - CELLS / 2, 0, most)
}

/** @param {ShiftState} state */
export function paintShiftMap(state, side) {
  const { map, theme, meta, tile } = state
  const cell = Math.max(2, Math.floor((side - MAP_EDGE.left - MAP_EDGE.right) / CELLS))
  const size = cell * CELLS
  const at = { left: MAP_EDGE.left, top: MAP_EDGE.top, cell, size }
  const end = state.ends[state.span]
  const [m0, n0] = [windowOf(state.m, state.window?.[0], end), windowOf(state.n, state.window?.[1], end)]
  Object.assign(state, { at, window: [m0, n0] })
  const context = sizeCanvas(map, at.left + size + MAP_EDGE.right, at.top + size + MAP_EDGE.bottom)
  context.direction = "ltr"
  paintTile(state, tile, m0, n0)
  context.imageSmoothingEnabled = false
  context.drawImage(tile, at.left, at.top, size, size)
  Object.assign(context, { strokeStyle: css(theme.rule), lineWidth: 1 })
  context.strokeRect(at.left - 0.5, at.top - 0.5, size + 1, size + 1)
  const [x, y] = [at.left + (state.n - n0) * cell, at.top + (state.m - m0) * cell]
  paintDiagonal(context, state, x, y)
  Object.assign(context, { strokeStyle: css(theme.text), lineWidth: 2 })
  context.strokeRect(x - 1, y - 1, cell + 2, cell + 2)
  for (let i = 0; i <= CELLS; i += 16) {
    const place = i === CELLS ? CELLS - 1 : i
    write(context, theme, wholeNumber(m0 + place), at.left - 6, at.top + (place + 0.5) * cell, { align: "right", baseline: "middle" })
    write(context, theme, wholeNumber(n0 + place), at.left + (place + 0.5) * cell, at.top + size + 14, { align: "center" })
  }
  write(context, theme, meta.texts.axis_n, at.left + size / 2, at.top + size + 30, { align: "center", color: theme.key })
  write(context, theme, meta.texts.axis_m, 2, 14, { color: theme.query })
}

function paintTile(state, tile, m0, n0) {
  const { theme } = state
  const key = `${m0},${n0},${theme.dark}`
  if (state.tileKey === key && state.tileOf === state.arrays) return
  const scores = windowScores(state, m0, n0)
  state.most = Math.max(...extent(byDifference(state).map(([, score]) => score)).map(Math.abs)) || 1
  const colors = ramp(theme.diverging)
  paintPixels(tile, CELLS, CELLS, (i) => {
    const score = scores[Math.floor(i / CELLS)][i % CELLS]
    return colors[Math.round((clamp(score / state.most, -1, 1) + 1) * 127.5)]
  })
  Object.assign(state, { tileKey: key, tileOf: state.arrays })
}

// Mark the cells with the same difference as the marked one.
function paintDiagonal(context, { at, theme }, x, y) {
  context.save()
  context.beginPath()
  context.rect(at.left, at.top, at.size, at.size)
  context.clip()
  const [cx, cy] = [x + at.cell / 2, y + at.cell / 2]
  rule(context, css(theme.text), cx - at.size, cy - at.size, cx + at.size, cy + at.size, { dash: [2, 3] })
  context.restore()
}

/** @param {ShiftState} state */
export function paintShiftCharts(state, width, height) {
  const { charts, theme, meta } = state
  const context = sizeCanvas(charts, width, height)
  context.direction = "ltr"
  const [across, flat] = [byDifference(state), alongDiagonal(state)]
  const range = padded(extent(across.map(([, score]) => score)))
  const half = height / 2
  const first = { left: 52, right: width - 10, top: 28, bottom: half - 36 }
  const second = { left: 52, right: width - 10, top: half + 28, bottom: height - 36 }
  const ends = /** @type {[number, number]} */ ([0, state.ends[state.span]])
  paintScoreChart(context, state, first, flat, ends, range, { title: meta.texts.together, axis: meta.texts.axis_m, mark: state.m, color: theme.query })
  const reach = /** @type {[number, number]} */ ([-state.reach, state.reach])
  paintScoreChart(context, state, second, across, reach, range, { title: meta.texts.apart, axis: meta.texts.axis_difference, mark: state.m - state.n, color: theme.primary, shade: meta.causal })
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ShiftState} state
 * @param {{ left: number, right: number, top: number, bottom: number }} box
 * @param {number[][]} points
 * @param {[number, number]} ends
 * @param {[number, number]} range
 * @param {{ title: string, axis: string, mark: number, color: RGB, shade?: boolean }} look
 */
function paintScoreChart(context, state, box, points, ends, range, { title, axis, mark, color, shade = false }) {
  const { theme, score } = state
  const x = (place) => box.left + ((place - ends[0]) / (ends[1] - ends[0] || 1)) * (box.right - box.left)
  const y = (value) => box.bottom - ((value - range[0]) / (range[1] - range[0])) * (box.bottom - box.top)
  if (shade) {
    context.fillStyle = hatch(context, theme)
    context.fillRect(box.left, box.top, x(-0.5) - box.left, box.bottom - box.top)
  }
  context.font = `600 12px ${theme.font}`
  write(context, theme, fitText(context, title ?? "", box.right - box.left), box.left, box.top - 12, { color: theme.text, size: 12, bold: true })
  for (const tick of roundTicks(...range, 4)) {
    rule(context, css(theme.rule), box.left, y(tick), box.right, y(tick))
    write(context, theme, formatPlain(tick), box.left - 6, y(tick), { align: "right", baseline: "middle" })
  }
  for (const tick of roundTicks(...ends, 6).filter(Number.isInteger)) {
    write(context, theme, tidy(String(tick)), x(tick), box.bottom + 14, { align: "center" })
  }
  write(context, theme, axis, (box.left + box.right) / 2, box.bottom + 29, { align: "center" })
  curve(context, css(color), points.map(([place, value]) => [x(place), y(value)]), 2)
  disc(context, css(theme.background), x(mark), y(score), 6.5)
  disc(context, css(theme.text), x(mark), y(score), 4.5)
}
