// Paint the visible part of the sheet: cells and their numbers, sticky labels, and frames.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { markPainted } from "../shared/shell.js"
import { css, inkOn, luminance, mix, rampColor } from "../shared/theme.js"
import { thinning } from "../shared/ticks.js"
import { isolate, tidy } from "../shared/words.js"
import { cornerOf, GROUP_GAP, LONGEST_LABEL, matesOf, SLOPE } from "./layout.js"
/** @import { State } from "./types" */

export function paint(state) {
  const { canvas, scroller, layout, theme } = state
  const [width, height] = [Math.min(layout.width, state.viewWidth), Math.min(layout.height, state.viewHeight)]
  const [dx, dy] = [scroller.scrollLeft, scroller.scrollTop]
  const context = sizeCanvas(canvas, width, height)
  context.save()
  context.beginPath()
  context.rect(layout.left - 2, layout.top - 2, width, height)
  context.clip()
  context.translate(-dx, -dy)
  for (let row = 0; row < state.rows; row++) paintRow(context, state, row, dy, height)
  for (const mate of matesOf(state)) frame(context, state, mate, mix(theme.background, theme.primary, 0.5), 1.5)
  frame(context, state, state.hovered, theme.quiet, 1.5)
  frame(context, state, state.open, theme.text, 2)
  context.restore()
  paintRowLabels(context, state, dy, height)
  paintColumnLabels(context, state, dx, width)
  markPainted(state.root)
}

function paintRow(context, state, row, dy, height) {
  const { layout, theme, meta } = state
  const [, y] = cornerOf(state, row, 0)
  if (y + layout.pitchY < dy || y > dy + height) return
  if (row in meta.notes) {
    context.fillStyle = css(theme.quiet)
    context.font = `${layout.pitchY >= 16 ? 12 : 10}px ${theme.font}`
    context.textAlign = "left"
    context.textBaseline = "middle"
    const text = fitText(context, meta.notes[row], cornerOf(state, row, state.columns - 1)[0] + layout.pitchX - layout.left - 4)
    context.fillText(text, layout.left + 4, y + layout.pitchY / 2)
    return
  }
  for (let column = 0; column < state.columns; column++) paintCell(context, state, row, column)
}

function paintCell(context, state, row, column) {
  const { layout, theme, meta } = state
  const [x, y] = cornerOf(state, row, column)
  const value = state.values[row * state.columns + column]
  const known = Number.isFinite(value)
  const color = known ? colorOf(state, value) : theme.background
  const { gap } = layout
  context.fillStyle = known ? css(color) : hatch(context, theme)
  context.fillRect(x + gap, y + gap, layout.pitchX - 2 * gap, layout.pitchY - 2 * gap)
  const nearlyPaper = Math.abs(luminance(color) - luminance(theme.background)) < 0.03
  if (nearlyPaper && Math.min(layout.pitchX, layout.pitchY) >= 18) {
    context.strokeStyle = css(theme.rule) // an edge for a cell near zero
    context.lineWidth = 1
    context.strokeRect(x + gap + 0.5, y + gap + 0.5, layout.pitchX - 2 * gap - 1, layout.pitchY - 2 * gap - 1)
  }
  if (meta.words) paintWord(context, state, meta.words[row][column], color, x, y)
  else paintNumber(context, state, value, color, x, y)
}

function paintWord(context, state, word, color, x, y) {
  const { layout, theme } = state
  context.font = `${layout.pitchY >= 24 ? 12 : 11}px ${theme.font}`
  context.textAlign = "center"
  context.textBaseline = "middle"
  context.fillStyle = css(inkOn(color))
  context.fillText(isolate(fitText(context, word, layout.pitchX - 8)), x + layout.pitchX / 2, y + layout.pitchY / 2 + 0.5)
}

// Zero of a signed scale is the middle of its ramp.
/** @param {State} state */
function colorOf({ meta, theme }, value) {
  const place = clamp((value - meta.low) / (meta.high - meta.low), 0, 1)
  return rampColor(meta.scale === "signed" ? theme.diverging : theme.sequential, place)
}

function paintNumber(context, state, value, color, x, y) {
  const { layout, numbers } = state
  if (!numbers || !Number.isFinite(value)) return
  context.font = numbers.font
  context.textAlign = "center"
  context.textBaseline = "middle"
  context.fillStyle = css(inkOn(color))
  context.fillText(cellNumber(state, value), x + layout.pitchX / 2, y + layout.pitchY / 2 + 0.5)
}

// The font of the numbers in the cells, or null if the longest does not fit: either all cells have numbers, or none.
export function fitNumbers(context, state) {
  const { layout, theme, values } = state
  const longest = [...values].reduce((found, value) => {
    const text = Number.isFinite(value) ? cellNumber(state, value) : ""
    return text.length > found.length ? text : found
  }, "")
  if (layout.pitchY < 17) return null
  for (const points of layout.pitchY >= 30 ? [12, 11, 10] : [10]) {
    context.font = `${points}px ${theme.font}`
    if (context.measureText(longest).width <= layout.pitchX - 5) return { font: context.font }
  }
  return null
}

// The number of a cell, with the same decimals in every cell: about a hundredth of the scale. The line below the map is
// more precise.
/** @param {State} state */
function cellNumber({ meta }, value) {
  const factor = meta.number === "percent" ? 100 : 1
  const size = Math.floor(Math.log10(factor * Math.max(Math.abs(meta.low), Math.abs(meta.high))))
  const digits = meta.number === "percent" ? Math.max(0, 1 - size) : size >= 2 ? 0 : size === 1 ? 1 : size >= -1 ? 2 : 1 - size
  const text = (factor * value).toFixed(Math.min(digits, 6))
  return tidy(Number(text) === 0 ? text.replace("-", "") : text)
}

function paintRowLabels(context, state, dy, height) {
  const { layout, theme, rowLabels } = state
  context.save()
  context.beginPath()
  context.rect(0, layout.top - 2, layout.left, height)
  context.clip()
  context.font = `11px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = "right"
  context.textBaseline = "middle"
  const every = thinning(13, layout.pitchY)
  const right = layout.left - 5 - (layout.rowGroup ? GROUP_GAP : 0)
  for (let row = 0; row < state.rows; row += every) {
    const text = isolate(fitText(context, rowLabels[row], LONGEST_LABEL))
    context.fillText(text, right, cornerOf(state, row, 0)[1] - dy + layout.pitchY / 2 + 0.5)
  }
  if (layout.rowGroup) paintGroups(context, state, 0, -dy)
  context.restore()
}

function paintColumnLabels(context, state, dx, width) {
  const { layout, theme, columnLabels } = state
  context.save()
  context.beginPath()
  context.rect(layout.left - 6, 0, width, layout.top)
  context.clip()
  context.font = `11px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = layout.slanted ? "left" : "center"
  const room = layout.slanted ? 13 : Math.max(...columnLabels.map((label) => context.measureText(label).width)) + 5
  const every = state.meta.words ? 1 : thinning(room, layout.pitchX)
  const longest = state.meta.words ? layout.pitchX - 6 : LONGEST_LABEL
  const bottom = layout.top - 6 - (layout.columnGroup ? GROUP_GAP : 0)
  for (let column = 0; column < state.columns; column += every) {
    const x = cornerOf(state, 0, column)[0] - dx + layout.pitchX / 2
    const text = isolate(fitText(context, columnLabels[column], longest))
    if (!layout.slanted) {
      context.fillText(text, x, bottom)
      continue
    }
    context.save()
    context.translate(x + 3, bottom)
    context.rotate(-SLOPE)
    context.fillText(text, 0, 0)
    context.restore()
  }
  if (layout.columnGroup) paintGroups(context, state, -dx, 0)
  context.restore()
}

// Draw a line between labels and cells for each group of heads that share keys and values; the open head's line stands
// out.
function paintGroups(context, state, dx, dy) {
  const { layout, theme } = state
  const [group, across] = layout.columnGroup ? [layout.columnGroup, true] : [layout.rowGroup, false]
  const openHead = state.open ? state.open[across ? 1 : 0] : -1
  const count = across ? state.columns : state.rows
  for (let first = 0; first < count; first += group) {
    const last = Math.min(count, first + group) - 1
    const marked = openHead >= first && openHead <= last
    const [begin, end] = [first, last].map((head) => (across ? cornerOf(state, 0, head)[0] + dx : cornerOf(state, head, 0)[1] + dy))
    const [start, length] = [begin + 1, end - begin + (across ? layout.pitchX : layout.pitchY) - 2]
    const [aside, thick] = marked ? [4.5, 2.5] : [4, 1.5]
    context.fillStyle = css(marked ? theme.primary : theme.rule)
    if (across) context.fillRect(start, layout.top - aside, length, thick)
    else context.fillRect(layout.left - aside, start, thick, length)
  }
}

function frame(context, state, cell, color, line) {
  if (!cell) return
  const { layout, theme } = state
  const [x, y] = cornerOf(state, ...cell)
  context.strokeStyle = css(theme.background) // a rim separates the frame from a cell of the same colour
  context.lineWidth = 1.5
  context.strokeRect(x + 1.75, y + 1.75, layout.pitchX - 3.5, layout.pitchY - 3.5)
  context.strokeStyle = css(color)
  context.lineWidth = line
  context.strokeRect(x, y, layout.pitchX, layout.pitchY)
}
