// Paint the visible part of the sheet: a static layer (pictures, frames, labels), cached until data, size, theme or
// scroll position change, and on top of it the frames of the selected, the compared and the hovered head.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch, lineColor, onLine } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { wordOf } from "../shared/pixels.js"
import { sharpness } from "../shared/room.js"
import { markPainted } from "../shared/shell.js"
import { css, inkOn, mix, rampColor } from "../shared/theme.js"
import { thinning } from "../shared/ticks.js"
import { formatNumber, formatShort } from "../shared/words.js"
import { headAt, matesOf, slotOf, squareOf } from "./layout.js"
/** @import { RGB, Theme } from "../shared/types" */
/** @import { Kind } from "../shared/hatch" */
/** @import { Head, State } from "./types" */

export const FRAMED = 18 // minimum size of a cell with a frame

// The frame of a small map, for a metric of this strength between 0 and 1.
export const frameColor = (theme, strength) => mix(theme.rule, theme.primary, strength)

export function paint(state) {
  const { canvas, scroller, layout } = state
  const [width, height] = [Math.min(layout.width, state.viewWidth), Math.min(layout.height, state.viewHeight)]
  const [dx, dy] = [scroller.scrollLeft, scroller.scrollTop]
  const key = [width, height, dx, dy, sharpness(), state.version].join()
  if (state.stillKey !== key) {
    paintStill(state, width, height, dx, dy)
    state.stillKey = key
  }
  const context = sizeCanvas(canvas, width, height)
  context.drawImage(state.still, 0, 0, width, height)
  const mates = matesOf(state)
  if (mates.length) paintGroupLine(context, state, mates, dx)
  context.save()
  context.beginPath()
  context.rect(0, layout.top - 2, width, height)
  context.clip()
  context.translate(-dx, -dy)
  const line = layout.pitch >= 20 ? 2.5 : 2
  for (const mate of mates) frame(context, state, mate, mix(state.theme.background, state.theme.primary, 0.5), 1.5)
  if (state.mark && state.meta.mode === "maps") paintMarks(context, state, dy, height)
  frame(context, state, state.hovered ?? state.lit, state.theme.quiet, 1.5)
  frame(context, state, state.compared, state.theme.compare, line)
  frame(context, state, state.selected, state.theme.primary, line)
  context.restore()
  markPainted(state.root)
}

// Mark the cell that is pointed at in the open map on every visible small map.
function paintMarks(context, state, dy, height) {
  const { layout, mark, theme } = state
  const [down, right, share] = mark
  context.strokeStyle = css(theme.key)
  context.lineWidth = 1
  for (let row = 0; row < layout.rows; row++) {
    for (let column = 0; column < layout.columns; column++) {
      const { x, y, size } = squareOf(state, row, column)
      if (y + size < dy || y > dy + height) continue
      const room = size - 2 * layout.pad
      const side = Math.max(4, room * share)
      context.strokeRect(x + layout.pad + right * room + (room * share - side) / 2, y + layout.pad + down * room + (room * share - side) / 2, side, side)
    }
  }
}

// The line above the columns of the selected head's group, in the colour of its frame.
function paintGroupLine(context, state, mates, dx) {
  const { layout, theme } = state
  if (!layout.grouped) return
  const [first, last] = [mates[0], mates[mates.length - 1]].map(([, head]) => squareOf(state, 0, head))
  const left = Math.max(layout.left, first.x + layout.pad - dx)
  context.fillStyle = css(theme.primary)
  context.fillRect(left, layout.top - 4.5, Math.max(0, last.x + last.size - layout.pad - dx - left), 2.5)
}

/** @param {State} state */
function paintStill(state, width, height, dx, dy) {
  const { layout, theme } = state
  const context = sizeCanvas(state.still, width, height)
  const first = Math.max(0, Math.floor((dy - layout.top) / layout.rowHeight))
  const last = Math.min(layout.rows - 1, Math.floor((dy + height - layout.top) / layout.rowHeight))
  if (state.meta.mode === "maps") paintThumbnails(context, state, first, last, dx, dy)
  context.translate(-dx, -dy)
  for (let row = first; row <= last; row++) {
    if (!state.order && !state.meta.layer_has_weights[row]) {
      paintNoWeights(context, state, row)
      continue
    }
    for (let column = 0; column < layout.columns; column++) paintCell(context, state, row, column)
  }
  if (state.order) return
  context.fillStyle = css(theme.background)
  context.fillRect(dx, dy, width, layout.top - 1) // labels stay visible while the rows scroll under them
  paintHeadLabels(context, state, dy)
  context.fillStyle = css(theme.background)
  context.fillRect(dx, dy, layout.left - 1, height)
  paintLayerLabels(context, state, dx, dy, first, last)
}

// Write all visible thumbnails directly to screen pixels.
function paintThumbnails(context, state, first, last, dx, dy) {
  const { canvas } = context
  const ratio = (state.ratio = sharpness())
  const image = context.createImageData(canvas.width, canvas.height)
  const pixels = new Uint32Array(image.data.buffer)
  state.lines = linesOf(state.theme)
  const size = Math.max(1, Math.round((state.layout.pitch - 2 * state.layout.pad) * ratio))
  const spans = spansOf(state.n, size)
  for (let row = first; row <= last; row++) {
    for (let column = 0; column < state.layout.columns; column++) {
      const found = headAt(state, row, column)
      if (!found || !state.meta.layer_has_weights[found[0]]) continue
      const square = squareOf(state, row, column)
      const x = Math.round((square.x + state.layout.pad - dx) * ratio)
      const y = Math.round((square.y + state.layout.pad - dy) * ratio)
      stamp(pixels, canvas.width, canvas.height, x, y, size, spans, state, found)
    }
  }
  context.putImageData(image, 0, 0)
}

// The background and line colours for masked cells and for keys that were not chosen.
/** @type {(theme: Theme) => Record<Kind, [paper: number, line: number]>} */
const linesOf = (theme) => ({
  masked: [wordOf(theme.background), wordOf(lineColor(theme))],
  leftOut: [wordOf(theme.background), wordOf(lineColor(theme, "leftOut"))],
})

// For each pixel of a picture of `size`, the half-open range of the n source cells that it covers.
function spansOf(n, size) {
  return Array.from({ length: size }, (_, i) => {
    if (size >= n) return [Math.floor(((i + 0.5) * n) / size), Math.floor(((i + 0.5) * n) / size) + 1]
    return [Math.floor((i * n) / size), Math.ceil(((i + 1) * n) / size)]
  })
}

// Paint one thumbnail. If several source cells share a pixel, it shows their maximum, so that thin lines survive.
function stamp(pixels, width, height, x, y, size, spans, state, [layer, head]) {
  const { n, thumbnails, keep, left_out: left, colors, lines, ratio } = state
  const picture = (layer * state.heads + head) * n * n
  const mask = layer * n * n
  for (let i = Math.max(0, -y); i < size && y + i < height; i++) {
    const [top, bottom] = spans[i]
    for (let j = Math.max(0, -x); j < size && x + j < width; j++) {
      const [from, to] = spans[j]
      let [value, out] = [-1, false]
      for (let row = top; row < bottom; row++) {
        for (let at = row * n + from; at < row * n + to; at++) {
          if (keep[mask + at] && thumbnails[picture + at] > value) value = thumbnails[picture + at]
          if (left?.[mask + at]) out = true
        }
      }
      pixels[(y + i) * width + x + j] = value >= 0 ? colors[value] : lines[out ? "leftOut" : "masked"][Number(onLine(out ? "leftOut" : "masked", j, i, ratio))]
    }
  }
}

// Paint the metric as a frame around a thumbnail or as a filled cell instead of it and, in a ranking, the head's name.
function paintCell(context, state, row, column) {
  const found = headAt(state, row, column)
  if (!found) return
  const { theme, layout, meta } = state
  const { x, y, size } = squareOf(state, row, column)
  const value = state.metric[found[0] * state.heads + found[1]]
  const strength = Number.isFinite(value) ? clamp((value - meta.low) / (meta.high - meta.low), 0, 1) : 0
  if (meta.mode === "metric") {
    const color = rampColor(theme.sequential, strength)
    context.fillStyle = Number.isFinite(value) ? css(color) : hatch(context, theme)
    context.fillRect(x + layout.pad / 2, y + layout.pad / 2, size - layout.pad, size - layout.pad)
    paintNumber(context, state, value, color, x, y, size)
  }
  if (meta.mode === "maps" || strength < 0.06) {
    const line = size >= 30 ? 1.5 : 1
    context.strokeStyle = css(meta.mode === "maps" ? frameColor(theme, strength) : theme.rule)
    context.lineWidth = line
    const inset = (layout.pad * 2 + line) / 4
    if (size >= FRAMED) context.strokeRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset)
  }
  if (!state.order) return
  context.font = `11px ${theme.font}`
  context.textBaseline = "alphabetic"
  context.textAlign = "center"
  context.fillStyle = css(theme.quiet)
  context.fillText(`L${found[0]}H${found[1]}`, x + size / 2, y - 2)
}

function paintNumber(context, state, value, color, x, y, size) {
  const points = size >= 34 ? 12 : 10
  context.font = `${points}px ${state.theme.font}`
  if (!Number.isFinite(value) || size < points + 6) return
  const text = wordsOfCell(value, state.meta, (words) => context.measureText(words).width <= size - 5)
  context.textAlign = "center"
  context.textBaseline = "middle"
  context.fillStyle = css(inkOn(color))
  context.fillText(text, x + size / 2, y + size / 2 + 0.5)
}

// The number of a cell. Values under one percent are written with digits only if the widest of them, <0.01, fits, too:
// otherwise one cell would read 0.01 and another, with a smaller value, <1.
export function wordsOfCell(value, { number, texts }, fits) {
  const exact = formatNumber(value, number, texts).replace(/\s*%$/, "").replace("< ", "<")
  const digits = number !== "percent" || Math.abs(value) >= 0.01 || fits("<0.01")
  return [...(digits ? [exact] : []), formatShort(value, number)].find(fits) ?? ""
}

function paintNoWeights(context, state, row) {
  const { layout, theme, meta } = state
  const y = layout.top + (row + 0.5) * layout.rowHeight
  context.fillStyle = css(theme.quiet)
  context.font = `${layout.pitch >= 16 ? 12 : 10}px ${theme.font}`
  context.textAlign = "left"
  context.textBaseline = "middle"
  if (layout.pitch >= 12) context.fillText(fitText(context, meta.texts.no_weights ?? "", layout.width - layout.left - 4), layout.left + 4, y)
}

function paintHeadLabels(context, state, dy) {
  const { layout, theme, heads, meta } = state
  context.font = `11px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = "center"
  context.textBaseline = "alphabetic"
  const every = thinning(context.measureText(`H${heads - 1}`).width + 5, layout.pitch)
  for (let head = 0; head < heads; head += every) {
    const { x, size } = squareOf(state, 0, head)
    context.fillText(`H${head}`, x + size / 2, dy + 12)
  }
  if (!layout.grouped) return
  context.fillStyle = css(theme.rule) // heads under one line share keys and values
  for (let head = 0; head < heads; head += meta.groups) {
    const end = squareOf(state, 0, Math.min(heads, head + meta.groups) - 1)
    const { x } = squareOf(state, 0, head)
    context.fillRect(x + layout.pad, dy + layout.top - 4, end.x + end.size - x - 2 * layout.pad, 1.5)
  }
}

function paintLayerLabels(context, state, dx, dy, first, last) {
  const { layout, theme } = state
  context.save()
  context.beginPath()
  context.rect(dx, dy + layout.top - 1, layout.left, 1e5)
  context.clip()
  context.font = `11px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = "right"
  context.textBaseline = "middle"
  const every = thinning(13, layout.rowHeight)
  for (let row = first; row <= last; row++) {
    if (row % every) continue
    context.fillText(`L${row}`, dx + layout.left - 6, layout.top + (row + 0.5) * layout.rowHeight + 0.5)
  }
  context.restore()
}

/** @type {(context: any, state: State, head: Head | null, color: RGB, line: number) => void} */
function frame(context, state, head, color, line) {
  const slot = head && slotOf(state, head)
  if (!slot) return
  const { x, y, size } = squareOf(state, ...slot)
  const { pad } = state.layout
  context.lineWidth = 1.5 // a rim in the background colour separates the frame from a cell of the same colour
  context.strokeStyle = css(state.theme.background)
  context.strokeRect(x + pad + 0.75, y + pad + 0.75, size - 2 * pad - 1.5, size - 2 * pad - 1.5)
  context.strokeStyle = css(color)
  context.lineWidth = line
  const out = line / 2 - pad
  context.strokeRect(x - out, y - out, size + 2 * out, size + 2 * out)
}
