// Draw every pair of coordinates as a vector in a dial: faint before the rotation, solid after it.

import { sizeCanvas } from "../shared/canvas.js"
import { css } from "../shared/theme.js"
import { tidy } from "../shared/words.js"
import { disc, SMALL, subscripted, threeDigits, write } from "./axis.js"

const GAP = 6
const LARGEST_DIAL = 150

// The largest dials that fit: number of columns, side of a cell, height of its label.
function dialGrid(count, width, maxHeight) {
  for (let columns = 1; ; columns++) {
    const side = Math.min(LARGEST_DIAL, (width - GAP * (columns - 1)) / columns)
    const label = side >= 104 ? 18 : side >= 52 ? 15 : 0
    const rows = Math.ceil(count / columns)
    const height = rows * (side + label + GAP)
    if (height <= maxHeight || columns >= count || side < 24) return { columns, side, label, rows, height }
  }
}

export function paintDials(state, width, maxHeight) {
  const { canvas, pairs } = state
  const grid = dialGrid(pairs.length, width, maxHeight)
  const context = sizeCanvas(canvas, width, grid.height)
  context.direction = "ltr"
  state.grid = { ...grid, pitch: (width + GAP) / grid.columns }
  pairs.forEach((pair, i) => {
    const x = (i % grid.columns) * state.grid.pitch
    const y = Math.floor(i / grid.columns) * (grid.side + grid.label + GAP)
    const radius = grid.side / 2 - 3
    paintDial(context, state, pair, x + grid.side / 2, y + grid.side / 2, radius, i === state.pair)
    if (i === 0 && radius >= 30) nameVectors(context, state, pair, x + grid.side / 2, y + grid.side / 2, radius)
    paintDialLabel(context, state, pair, i, x + grid.side / 2, y + grid.side, grid)
  })
  canvas.dataset.geometry = JSON.stringify(state.grid)
}

function paintDial(context, state, pair, x, y, radius, looked) {
  const { theme, factor, position, longest } = state
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fillStyle = css(looked ? theme.secondary : theme.background)
  context.fill()
  Object.assign(context, { strokeStyle: css(looked ? theme.primary : theme.rule), lineWidth: looked ? 2 : 1 })
  context.stroke()
  const angle = position * pair.theta
  if (radius >= 30) paintArc(context, theme, x, y, 0.3 * radius, pair.q, angle)
  if (radius >= 16) {
    for (const name of ["key", "query"]) paintVector(context, css(theme[name], 0.4), x, y, radius, pair[name[0]], longest[name], 0, 1)
  }
  for (const name of ["key", "query"]) {
    const [a, b] = pair[name[0]]
    if (a === 0 && b === 0) continue
    paintVector(context, css(theme[name]), x, y, radius, pair[name[0]], longest[name] / factor, angle, radius >= 24 ? 2.25 : 1.5)
    const direction = Math.atan2(b, a) + angle
    disc(context, css(theme[name]), x + radius * Math.cos(direction), y - radius * Math.sin(direction), radius >= 24 ? 2.6 : 1.6)
  }
}

// Name both vectors in the first dial, inside the rim beside the dots of their directions.
function nameVectors(context, { theme, position }, pair, x, y, radius) {
  for (const name of ["key", "query"]) {
    const [a, b] = pair[name[0]]
    const direction = Math.atan2(b, a) + position * pair.theta
    const [dx, dy] = [Math.cos(direction), -Math.sin(direction)]
    write(context, theme, name[0], x + (radius - 11) * dx, y + (radius - 11) * dy + 4, { align: "center", color: theme[name], size: 13 })
  }
}

// Draw an arc from the query's direction before the rotation to its direction after it, without whole turns.
function paintArc(context, theme, x, y, radius, [a, b], angle) {
  const from = Math.atan2(b, a)
  const turn = angle % (2 * Math.PI)
  if (Math.abs(turn) < 1e-6) return
  Object.assign(context, { strokeStyle: css(theme.quiet, 0.75), lineWidth: 1 })
  context.beginPath()
  context.arc(x, y, radius, -from, -from - turn, turn > 0)
  context.stroke()
}

// The second coordinate points up, so a positive angle turns counterclockwise.
function paintVector(context, color, x, y, radius, [a, b], longest, angle, width) {
  const length = (Math.hypot(a, b) / longest) * radius
  const direction = Math.atan2(b, a) + angle
  const [dx, dy] = [Math.cos(direction), -Math.sin(direction)]
  const head = Math.min(7, length * 0.6, radius * 0.3)
  Object.assign(context, { strokeStyle: color, fillStyle: color, lineWidth: width })
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(x + dx * (length - head * 0.7), y + dy * (length - head * 0.7))
  context.stroke()
  context.beginPath()
  context.moveTo(x + dx * length, y + dy * length)
  for (const side of [1, -1]) {
    context.lineTo(x + dx * (length - head) + side * dy * head * 0.45, y + dy * (length - head) - side * dx * head * 0.45)
  }
  context.fill()
}

function paintDialLabel(context, state, pair, i, x, y, { label, side }) {
  if (!label) return
  const { theme, position, pairs, meta: { texts } } = state
  const theta = threeDigits(pair.theta)
  const degrees = Math.round(((position * pair.theta * 180) / Math.PI) % 360)
  const end = pairs.length > 1 && { 0: texts.fastest, [pairs.length - 1]: texts.slowest }[i] // the two that the title is about
  const text = side >= 104 ? `${end || `θ${subscripted(i)} ${theta}`} · ↺ ${tidy(String(degrees))}°` : theta
  write(context, theme, text, x, y + label - 5, { align: "center", color: i === state.pair ? theme.text : theme.quiet, size: side >= 104 ? SMALL : 10 })
}

// The pair whose dial is at this point of the canvas; null between dials.
export function dialAt({ grid, pairs }, x, y) {
  const column = Math.floor(x / grid.pitch)
  const row = Math.floor(y / (grid.side + grid.label + GAP))
  const i = row * grid.columns + column
  return column >= 0 && column < grid.columns && row >= 0 && i < pairs.length ? i : null
}
