// One row per pair: its wavelength, then its step in the sum for the chosen key, then its contribution for every key.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch } from "../shared/hatch.js"
import { clamp, extent, padded } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { css, rampColor } from "../shared/theme.js"
import { stepOf } from "../shared/ticks.js"
import { fill, formatPlain, isolate, wholeNumber } from "../shared/words.js"
import { rule, SMALL, threeDigits, write } from "./axis.js"
import { scoreWords, shownColumn, total } from "./split_words.js"

const SPLIT_HEIGHT = 400
const KEY_LABELS = 78 // pixels under the map for slanted token labels
const WIDEST_KEY = 64

function layOut(state, width) {
  const rows = state.values.length
  const narrow = width < 640
  const row = clamp(Math.floor(inRoom(SPLIT_HEIGHT) / rows), 2, inRoom(22))
  const label = narrow ? 46 : 96
  const bars = narrow ? Math.round(width * 0.3) : clamp(Math.round(width * 0.3), 160, 340)
  const map = label + bars + (narrow ? 14 : 34)
  const column = Math.min(WIDEST_KEY, (width - map - 62) / state.positions.length)
  const top = 26
  return { narrow, row, label, bars, map, column, top, bottom: top + rows * row, sum: top + rows * row + 8, sumHeight: 20, width }
}

export function paintSplit(state, width) {
  const at = (state.at = layOut(state, width))
  const context = sizeCanvas(state.canvas, width, at.sum + at.sumHeight + KEY_LABELS)
  context.direction = "ltr"
  paintWaveLabels(context, state, at)
  paintSteps(context, state, at)
  paintParts(context, state, at)
  paintKeys(context, state, at)
  paintScale(context, state, at)
  if (state.pair !== null) {
    Object.assign(context, { strokeStyle: css(state.theme.text, 0.8), lineWidth: 1 })
    const right = at.map + at.column * state.positions.length
    context.strokeRect(at.label - 0.5, at.top + state.pair * at.row - 0.5, right - at.label + 1, at.row + 1)
  }
}

function paintWaveLabels(context, state, at) {
  const { theme, meta, waves, values } = state
  write(context, theme, at.narrow ? "2π/θ" : meta.texts.axis_wave, 0, 12)
  const every = stepOf(12, at.row)
  values.forEach((_, i) => {
    const isRest = i >= waves.length
    if (i % every && !isRest) return
    if (!isRest && meta.n_rest && (waves.length - i) * at.row < 11) return
    const text = isRest ? meta.texts.rest_short : Number.isFinite(waves[i]) ? (waves[i] >= 1000 ? wholeNumber(Math.round(waves[i])) : threeDigits(waves[i])) : "∞"
    context.font = `${SMALL}px ${theme.font}`
    write(context, theme, fitText(context, text ?? "", at.label - 8), at.label - 8, at.top + (i + 0.5) * at.row, { align: "right", baseline: "middle", color: i === state.pair ? theme.text : theme.quiet })
  })
  write(context, theme, at.narrow ? "Σ" : meta.texts.sum, at.label - 8, at.sum + at.sumHeight / 2, { align: "right", baseline: "middle", color: theme.text, bold: true })
}

// Each bar starts where the one above it ends; the last bar is the total.
function paintSteps(context, state, at) {
  const { theme, values, meta } = state
  const column = shownColumn(state)
  const steps = [0]
  for (const row of values) steps.push(steps.at(-1) + row[column])
  const [low, high] = padded(extent(steps), 0.03)
  const x = (value) => at.label + ((value - low) / (high - low)) * at.bars
  rule(context, css(theme.rule), x(0), at.top - 3, x(0), at.sum + at.sumHeight)
  const [minus, plus] = [rampColor(theme.diverging, 0.2), rampColor(theme.diverging, 0.8)]
  const gap = at.row >= 6 ? 1.5 : at.row >= 4 ? 0.5 : 0
  values.forEach((row, i) => {
    const [from, to] = [x(steps[i]), x(steps[i + 1])]
    const y = at.top + i * at.row
    context.fillStyle = css(row[column] < 0 ? minus : plus)
    context.fillRect(Math.min(from, to), y + gap, Math.max(0.75, Math.abs(to - from)), at.row - 2 * gap)
    if (at.row >= 5) rule(context, css(theme.quiet, 0.6), to, y + at.row - gap, to, y + at.row + gap)
  })
  const whole = steps.at(-1)
  context.fillStyle = css(theme.text, 0.78)
  context.fillRect(Math.min(x(0), x(whole)), at.sum + 3, Math.max(1, Math.abs(x(whole) - x(0))), at.sumHeight - 6)
  const inside = Math.abs(x(whole) - x(0)) > 60
  write(context, theme, scoreWords(whole), inside ? Math.max(x(0), x(whole)) - 5 : Math.max(x(0), x(whole)) + 5, at.sum + at.sumHeight / 2 + 0.5, { align: inside ? "right" : "left", baseline: "middle", color: inside ? theme.background : theme.text, bold: true })
  if (!at.narrow) write(context, theme, fitText(context, fill(meta.texts.axis_steps, { key: isolate(meta.labels[column]) }), at.bars), at.label, 12)
  write(context, theme, "0", x(0), at.sum + at.sumHeight + 13, { align: "center" })
}

function paintParts(context, state, at) {
  const { theme, values, arrays, positions, meta } = state
  const sums = positions.map((_, column) => total(state, column))
  state.most = extent(values.flatMap((row) => extent(Array.from(row)))).reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
  state.mostSum = Math.max(...extent(sums).map(Math.abs)) || 1
  const cell = (value, most, x, y, height) => {
    context.fillStyle = css(rampColor(theme.diverging, (clamp(value / most, -1, 1) + 1) / 2))
    context.fillRect(x, y, at.column + 0.3, height + 0.3)
  }
  positions.forEach((_, column) => {
    const x = at.map + column * at.column
    values.forEach((row, i) => cell(row[column], state.most, x, at.top + i * at.row, at.row))
    cell(sums[column], state.mostSum, x, at.sum, at.sumHeight)
    if (!arrays.keep[column]) {
      context.fillStyle = hatch(context, theme)
      context.fillRect(x, at.top, at.column + 0.3, at.bottom - at.top)
      context.fillRect(x, at.sum, at.column + 0.3, at.sumHeight)
    }
  })
  const width = at.column * positions.length
  Object.assign(context, { strokeStyle: css(theme.rule), lineWidth: 1 })
  context.strokeRect(at.map - 0.5, at.top - 0.5, width + 1, at.bottom - at.top + 1)
  context.strokeRect(at.map - 0.5, at.sum - 0.5, width + 1, at.sumHeight + 1)
  write(context, theme, fitText(context, meta.texts.axis_map ?? "", at.width - at.map), at.map, 12)
  for (const [column, color] of [[state.hovered, theme.text], [state.column, theme.key]]) {
    if (column === null) continue
    Object.assign(context, { strokeStyle: css(color), lineWidth: 2 })
    context.strokeRect(at.map + column * at.column - 1, at.top - 1, Math.max(3, at.column) + 2, at.sum + at.sumHeight - at.top + 2)
  }
}

function paintKeys(context, state, at) {
  const { theme, meta, positions, column: pinned } = state
  const y = at.sum + at.sumHeight + 8
  const every = stepOf(13, at.column)
  context.font = `${SMALL}px ${theme.font}`
  positions.forEach((position, column) => {
    if (column !== pinned && (column % every || (every > 1 && Math.abs(column - pinned) < every))) return
    context.save()
    context.translate(at.map + (column + 0.5) * at.column, y)
    context.rotate(Math.PI / 3)
    const text = every > 1 && column !== pinned ? String(position) : fitText(context, `${meta.labels[column]} ${position}`, KEY_LABELS)
    write(context, theme, isolate(text), 0, 3, { color: column === pinned ? theme.key : theme.quiet })
    context.restore()
  })
}

function paintScale(context, state, at) {
  const { theme, positions } = state
  const x = at.map + at.column * positions.length + 14
  const height = Math.min(150, at.bottom - at.top)
  const gradient = context.createLinearGradient(0, at.top + height, 0, at.top)
  for (const [t, ...color] of theme.diverging) gradient.addColorStop(t, css(color))
  context.fillStyle = gradient
  context.fillRect(x, at.top, 9, height)
  for (const [t, value] of [[0, state.most], [0.5, 0], [1, -state.most]]) {
    write(context, theme, formatPlain(value), x + 14, at.top + clamp(t * height, 4, height - 3), { baseline: "middle", size: 10 })
  }
}
