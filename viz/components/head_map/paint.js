// Paint the figure. The canvas has everything that a saved picture needs; only the tooltip and the buttons are
// elements.

import { contextOf, sizeCanvas } from "../shared/canvas.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { paintPixels } from "../shared/pixels.js"
import { sharpness } from "../shared/room.js"
import { markPainted } from "../shared/shell.js"
import { css, inkOn, ramp, rampColor } from "../shared/theme.js"
import { paintAxisWords, paintLabels } from "./labels.js"
import { barTicks, pixelOf, placeOnBar, SMALL_FONT, swatches, xOf, yOf } from "./layout.js"
import { isWhole } from "../shared/view.js"
import { formatShort } from "../shared/words.js"
/** @import { State } from "./types" */

const NUMBERED = 36 // pixels of the smallest cell with a number
const LEAST_WRITTEN = 0.0995 // smallest share written, the first of two digits

// Paint each of the tile's values as one pixel, again when the data or the theme changes.
/** @param {State} state */
export function paintTile(state) {
  const { meta, theme } = state
  const colors = ramp(theme[meta.scale])
  const draw = (canvas, values) => {
    const [rows, columns] = values.shape
    paintPixels(canvas, columns, rows, (i) => {
      const value = values[i]
      return value !== value ? CLEAR : colors[(placeOnBar(meta, value) * 255 + 0.5) | 0] // NaN is not itself
    })
    if (canvas.enlarged) canvas.enlarged.times = 0
  }
  draw(state.tile, state.values)
  if (state.overview) draw(state.small, state.overview)
}

// Paint the cells of keys that were not chosen, with their own hatching.
/** @param {State} state */
function paintLeftOut(context, state) {
  const { layout, left_out: left, meta, theme, view } = state
  if (!left) return
  const { window, pool } = meta
  const [wide, high] = [layout.cellWidth * pool[1], layout.cellHeight * pool[0]]
  const columns = left.shape[1]
  context.beginPath()
  for (let i = 0; i < left.length; i++) {
    if (!left[i]) continue
    const [query, key] = [window[0] + Math.floor(i / columns) * pool[0], window[2] + (i % columns) * pool[1]]
    if (query + pool[0] <= view.q0 || query >= view.q1 || key + pool[1] <= view.k0 || key >= view.k1) continue
    context.rect(xOf(state, key), yOf(state, query), wide, high)
  }
  context.fillStyle = hatch(context, theme, "leftOut")
  context.fill()
}

export function paintFigure(state) {
  const { canvas, layout, theme } = state
  const context = sizeCanvas(canvas, layout.width, layout.height)
  context.direction = "ltr" // rows and columns do not follow the page's text direction
  context.fillStyle = css(theme.background)
  context.fillRect(0, 0, layout.width, layout.height)
  paintCells(context, state)
  paintPins(context, state)
  paintLit(context, state)
  paintHover(context, state)
  paintLabels(context, state, 0)
  paintLabels(context, state, 1)
  paintAxisWords(context, state)
  paintBar(context, state)
  if (state.zoomable) paintInset(context, state)
  paintNotes(context, state)
  markPainted(state.root)
}

function paintCells(context, state) {
  const { layout, meta, tile, theme } = state
  const { plot } = layout
  context.save()
  context.beginPath()
  context.rect(plot.x, plot.y, plot.width, plot.height)
  context.clip()
  context.fillStyle = css(theme.secondary)
  context.fillRect(plot.x, plot.y, plot.width, plot.height)
  const { view } = state
  const [q0, q1, k0, k1] = meta.window
  const covered = view.q0 >= q0 && view.q1 <= q1 && view.k0 >= k0 && view.k1 <= k1
  if (state.overview && !covered) drawUnits(context, state, state.small, [0, meta.total[0], 0, meta.total[1]])
  // the last pooled row and column may cover fewer cells than the others, but all pixels are drawn the same size
  drawUnits(context, state, tile, [q0, q0 + tile.height * meta.pool[0], k0, k0 + tile.width * meta.pool[1]])
  paintLeftOut(context, state)
  paintSeparators(context, state)
  paintNumbers(context, state)
  context.restore()
  context.lineWidth = 1
  context.strokeStyle = css(theme.rule) // an edge for a plot whose values are all near zero
  context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1)
}

function drawUnits(context, state, picture, [q0, q1, k0, k1]) {
  const [x, y] = [xOf(state, k0), yOf(state, q0)]
  const [width, height] = [xOf(state, k1) - x, yOf(state, q1) - y]
  const scale = (width / picture.width) * sharpness() || 1
  let source = picture
  context.fillStyle = hatch(context, state.theme) // shows where the picture is transparent
  context.fillRect(x, y, width, height)
  context.imageSmoothingEnabled = false
  const times = Math.ceil(scale) + 1
  if (scale < 12 && Math.abs(scale - Math.round(scale)) > 1e-3 && picture.width * times < 1800 && picture.height * times < 1800) {
    source = enlarged(picture, times) // otherwise some rows would be a pixel wider than their neighbours
    context.imageSmoothingEnabled = true
    context.imageSmoothingQuality = "high"
  }
  context.drawImage(source, x, y, width, height)
}

// The picture enlarged `times` without smoothing; cached on it until it is repainted.
function enlarged(picture, times) {
  if (picture.enlarged?.times === times) return picture.enlarged.buffer
  const buffer = picture.enlarged?.buffer ?? document.createElement("canvas")
  Object.assign(buffer, { width: picture.width * times, height: picture.height * times })
  const context = contextOf(buffer)
  context.imageSmoothingEnabled = false
  context.drawImage(picture, 0, 0, buffer.width, buffer.height)
  picture.enlarged = { times, buffer }
  return buffer
}

function paintSeparators(context, state) {
  const { layout, view, meta, theme } = state
  const { plot, cellWidth, cellHeight } = layout
  if (Math.min(cellWidth, cellHeight) < 10 || meta.pool[0] * meta.pool[1] > 1) return
  const line = 1 / sharpness()
  context.fillStyle = css(theme.background, theme.dark ? 0.55 : 0.8)
  for (let key = Math.ceil(view.k0 + 1e-6); key < view.k1; key++) {
    context.fillRect(wholePixel(xOf(state, key)) - line, plot.y, line, plot.height)
  }
  for (let query = Math.ceil(view.q0 + 1e-6); query < view.q1; query++) {
    context.fillRect(plot.x, wholePixel(yOf(state, query)) - line, plot.width, line)
  }
}

// Write shares of at least 10 % in their cells if these have room, so that nobody has to read them off the colour bar.
/** @param {State} state */
function paintNumbers(context, state) {
  const { layout, meta, theme, values, view } = state
  if (meta.number !== "percent" || meta.pool[0] * meta.pool[1] > 1 || Math.min(layout.cellWidth, layout.cellHeight) < NUMBERED) return
  const [q0, , k0] = meta.window
  const columns = values.shape[1]
  Object.assign(context, { font: `12px ${theme.font}`, textAlign: "center", textBaseline: "middle" })
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (!(Math.abs(value) >= LEAST_WRITTEN)) continue // NaN, a masked cell, fails this too
    const [query, key] = [q0 + Math.floor(i / columns), k0 + (i % columns)]
    if (query < view.q0 - 1 || query > view.q1 || key < view.k0 - 1 || key > view.k1) continue
    context.fillStyle = css(inkOn(rampColor(theme[meta.scale], placeOnBar(meta, value))))
    context.fillText(formatShort(value, meta.number), xOf(state, key + 0.5), yOf(state, query + 0.5) + 0.5)
  }
}

const wholePixel = (length) => Math.round(length * sharpness()) / sharpness()

// Frame the pinned row in the queries' blue and the pinned column in the keys' red, clipped to the plot.
function paintPins(context, state) {
  if (!state.selected) return
  const { layout, theme } = state
  const { plot } = layout
  const [query, key] = state.selected
  context.save()
  context.beginPath()
  context.rect(plot.x - 3, plot.y - 3, plot.width + 6, plot.height + 6)
  context.clip()
  const thin = (length) => Math.max(length, 3)
  const boxes = []
  if (key !== null && key >= state.view.k0 - 1 && key < state.view.k1) {
    boxes.push([theme.key, xOf(state, key) - 1, plot.y - 1, thin(layout.cellWidth) + 1, plot.height + 2])
  }
  if (query >= state.view.q0 - 1 && query < state.view.q1) {
    boxes.push([theme.query, plot.x - 1, yOf(state, query) - 1, plot.width + 2, thin(layout.cellHeight) + 1])
  }
  const rim = layout.cellWidth >= 5 ? [[css(theme.background, 0.75), 4]] : [] // on smaller cells it would cover neighbours
  for (const [stroke, line] of [...rim, [null, 2]]) {
    for (const [color, ...edges] of boxes) {
      Object.assign(context, { strokeStyle: stroke ?? css(color), lineWidth: line })
      context.strokeRect(...edges)
    }
  }
  context.restore()
}

// Highlight the row and the column that are pointed at in other figures.
/** @param {State} state */
function paintLit(context, state) {
  const { layout, theme, lit: [query, key] } = state
  const { plot } = layout
  context.save()
  context.beginPath()
  context.rect(plot.x - 2, plot.y - 2, plot.width + 4, plot.height + 4)
  context.clip()
  context.lineWidth = 1.5
  context.strokeStyle = css(theme.query)
  if (query !== null) context.strokeRect(plot.x - 0.5, yOf(state, query) - 0.5, plot.width + 1, layout.cellHeight + 1)
  context.strokeStyle = css(theme.key)
  if (key !== null) context.strokeRect(xOf(state, key) - 0.5, plot.y - 0.5, layout.cellWidth + 1, plot.height + 1)
  context.restore()
}

function paintHover(context, state) {
  if (!state.hovered) return
  const { meta, theme } = state
  const [q0, q1] = pixelOf(meta, 0, state.hovered[0])
  const [k0, k1] = pixelOf(meta, 1, state.hovered[1])
  const [x, y] = [xOf(state, k0), yOf(state, q0)]
  context.strokeStyle = css(theme.text)
  context.lineWidth = 1.5
  context.strokeRect(x - 0.5, y - 0.5, Math.max(4, xOf(state, k1) - x), Math.max(4, yOf(state, q1) - y))
}

function paintBar(context, state) {
  const { layout, theme, meta } = state
  const { bar, narrow } = layout
  const gradient = narrow
    ? context.createLinearGradient(bar.x, 0, bar.x + bar.width, 0)
    : context.createLinearGradient(0, bar.y + bar.height, 0, bar.y)
  for (const [t, ...color] of theme[meta.scale]) gradient.addColorStop(t, css(color))
  context.fillStyle = gradient
  context.fillRect(bar.x, bar.y, bar.width, bar.height)
  context.strokeStyle = css(theme.rule)
  context.lineWidth = 1
  context.strokeRect(bar.x + 0.5, bar.y + 0.5, bar.width - 1, bar.height - 1)
  context.font = `${SMALL_FONT}px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  const ticks = barTicks(meta)
  ticks.forEach((tick, i) => {
    if (narrow) {
      if (i > 0 && i < ticks.length - 1) return // no room between the ends
      context.textAlign = i === 0 ? "left" : "right"
      context.textBaseline = "alphabetic"
      context.fillText(tick.text, i === 0 ? bar.x : bar.x + bar.width, bar.y + bar.height + 14)
    } else {
      context.textAlign = "left"
      context.textBaseline = "middle"
      context.fillText(tick.text, bar.x + bar.width + 6, bar.y + clamp((1 - tick.t) * bar.height, 4, bar.height - 3))
    }
  })
  swatches(meta).forEach((swatch, nth) => paintSwatch(context, state, swatch, nth))
}

function paintSwatch(context, state, [name, kind], nth) {
  const { layout, theme, meta } = state
  const { bar, narrow } = layout
  const x = narrow ? bar.x + bar.width + 18 : bar.x
  const y = (narrow ? bar.y - 1 : bar.y + bar.height + 16) + 17 * nth
  context.fillStyle = hatch(context, theme, kind)
  context.fillRect(x, y, 11, 11)
  context.strokeStyle = css(theme.rule)
  context.lineWidth = 1
  context.strokeRect(x + 0.5, y + 0.5, 10, 10)
  context.fillStyle = css(theme.quiet)
  context.textAlign = "left"
  context.textBaseline = "middle"
  context.fillText(meta.texts[name] ?? "", x + 17, y + 6)
}

// Paint a small map of the whole, with a frame around the current view.
function paintInset(context, state) {
  const { meta, theme, view } = state
  if (isWhole(view, meta.total)) return
  const box = insetBox(state)
  if (!box) return
  context.imageSmoothingEnabled = true
  context.fillStyle = hatch(context, theme)
  context.fillRect(box.x, box.y, box.width, box.height)
  if (state.overview) context.drawImage(state.small, box.x, box.y, box.width, box.height)
  context.lineWidth = 1
  context.strokeStyle = css(theme.rule)
  context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1)
  const [scaleX, scaleY] = [box.width / meta.total[1], box.height / meta.total[0]]
  context.lineWidth = 1.5
  context.strokeStyle = css(theme.primary)
  const [width, height] = [Math.max(3, (view.k1 - view.k0) * scaleX), Math.max(3, (view.q1 - view.q0) * scaleY)]
  context.strokeRect(box.x + view.k0 * scaleX, box.y + view.q0 * scaleY, width, height)
}

// The box of the small map: under the colour bar, or left of the buttons on a narrow screen; null if there is no room.
/** @param {State} state */
function insetBox({ layout, meta, measured, zoom }) {
  const { bar, narrow } = layout
  const side = narrow ? 34 : 54
  const [queries, keys] = meta.total
  const longest = Math.max(queries, keys)
  const x = narrow ? layout.width - zoom.offsetWidth - side - 14 : bar.x
  if (narrow && x < bar.x + bar.width + 22 + measured.masked) return null
  const y = narrow ? bar.y - 6 : bar.y + bar.height + 18 + (swatches(meta).length ? 11 + 17 * swatches(meta).length : 0)
  return { x, y, width: Math.max(6, (side * keys) / longest), height: Math.max(6, (side * queries) / longest) }
}

function paintNotes(context, state) {
  const { layout, theme } = state
  context.font = `${SMALL_FONT}px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = "left"
  context.textBaseline = "alphabetic"
  const top = layout.plot.y + layout.plot.height + 8 + (layout.narrow ? 44 : 0)
  layout.notes.forEach((line, i) => context.fillText(line, layout.narrow ? 4 : layout.plot.x, top + 12 + i * 17))
}
