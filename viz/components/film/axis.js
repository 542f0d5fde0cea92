// One axis of tokens for all that the new token touches: the open head's attention row as bars, the same row of every
// head as a strip, and the cache's keys and values, which have one column more in every frame.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { paintPixels } from "../shared/pixels.js"
import { pointIn, sharpness } from "../shared/room.js"
import { announcer } from "../shared/shell.js"
import { css, mix, ramp, rampColor } from "../shared/theme.js"
import { fill, formatShort, isolate } from "../shared/words.js"
import { axisLayout, MASKED, namedColumns, place } from "./axis_layout.js"
import { drawWords } from "./axis_words.js"
import { labelAt } from "./frames.js"

const SLOPE = Math.PI / 3

export function createAxis(root, act) {
  const heading = element("div", { className: "heading" })
  const canvas = element("canvas", { role: "img", tabIndex: 0 })
  const caption = element("p", { className: "note caption" })
  const cache = element("p", { className: "note cache" })
  const when = element("p", { className: "note when" })
  const legend = element("div", { className: "legend" })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  const box = element("div", { className: "axis" }, heading, when, canvas, caption, legend, cache, live)
  const axis = /** @type {any} */ ({
    box, heading, when, canvas, caption, legend, cache, live, hover: null, pictures: {}, painted: {}, most: {}, layout: null,
  })
  axis.announce = announcer(live)
  canvas.addEventListener("pointermove", (event) => {
    axis.hover = pointIn(event, canvas)
    act("hover")
  })
  canvas.addEventListener("pointerleave", () => {
    axis.hover = null
    act("hover")
  })
  canvas.addEventListener("click", (event) => {
    const { x, y } = pointIn(event, canvas)
    const found = place(axis, x, y)
    if (found?.part === "strip") act("head", axis.heads[found.row])
  })
  return axis
}

export function drawAxis(axis, state, theme) {
  const { reel, meta, at } = state
  const frame = reel.frames[at]
  const width = axis.box.clientWidth
  if (!width) return
  const layout = (axis.layout = axisLayout(state, width))
  axis.heads = meta.view.heads
  const context = sizeCanvas(axis.canvas, width, layout.height)
  context.font = `11px ${theme.font}`
  const now = Math.floor(frame.position / layout.bin) // the new token's column
  drawRoom(context, layout, theme)
  drawBars(context, layout, frame, now, theme)
  if (layout.parts.strip) drawStrip(context, axis, layout, meta.view, frame, theme)
  for (const name of ["k", "v"]) drawCache(context, axis, layout, reel, name, now, theme)
  drawColumnLabels(context, layout, state, frame, now, theme)
  drawNames(context, layout, meta, theme)
  context.strokeStyle = css(theme.query)
  context.lineWidth = 1.5
  const { k, v } = layout.parts
  context.strokeRect(layout.left + now * layout.cell, k.y - 1, layout.cell, v.y + v.height - k.y + 2)
  drawWords(axis, state, frame)
}

// The room that the film may still fill.
function drawRoom(context, { parts, left, cell, columns }, theme) {
  context.strokeStyle = css(theme.rule)
  context.lineWidth = 1
  for (const { y, height } of [parts.strip, parts.k, parts.v].filter(Boolean)) {
    context.strokeRect(left - 0.5, Math.round(y) - 0.5, cell * columns + 1, Math.round(height) + 1)
  }
  const base = parts.bars.y + parts.bars.height
  context.beginPath()
  context.moveTo(left, base + 0.5)
  context.lineTo(left + cell * columns, base + 0.5)
  context.stroke()
}

function drawBars(context, { parts, left, cell }, { row }, now, theme) {
  const { bars } = parts
  const gap = cell > 6 ? 1 : 0
  for (let column = 0; column < row.length; column++) {
    const x = left + column * cell
    if (Number.isNaN(row[column])) {
      context.fillStyle = hatch(context, theme)
      context.fillRect(x, bars.y + bars.height - 5, cell - gap, 5)
      continue
    }
    const height = row[column] * (bars.height - 12)
    context.fillStyle = css(rampColor(theme.sequential, 0.35 + 0.65 * row[column]))
    context.fillRect(x, bars.y + bars.height - height, cell - gap, height)
    if (cell >= 20 && row[column] >= 0.095) {
      context.fillStyle = css(theme.quiet)
      context.textAlign = "center"
      context.fillText(formatShort(row[column], "percent"), x + (cell - gap) / 2, bars.y + bars.height - height - 3)
    }
  }
}

function drawStrip(context, axis, { parts, left, cell }, view, frame, theme) {
  const { strip } = parts
  const [rows, columns] = [view.heads.length, frame.row.length]
  const colors = ramp(theme.sequential)
  const canvas = pictureOf(axis, "strip")
  paintPixels(canvas, columns, rows, (i) => (frame.strip[i] === MASKED ? CLEAR : colors[Math.round((frame.strip[i] * 255) / 254)]))
  context.fillStyle = hatch(context, theme) // shows where the picture is clear
  context.fillRect(left, strip.y, columns * cell, strip.height)
  drawPicture(context, canvas, [left, strip.y, columns * cell, strip.height])
  const [layer, head] = view.head
  const open = view.heads.findIndex(([l, h]) => l === layer && h === head)
  context.lineWidth = 1.5
  const mates = view.heads.flatMap(([l, h], i) => (l === layer && Math.floor(h / view.group) === Math.floor(head / view.group) ? [i] : []))
  context.strokeStyle = css(mix(theme.background, theme.primary, 0.5)) // they share the open head's keys and values
  if (mates.length > 1) context.strokeRect(left - 1, strip.y + mates[0] * strip.row - 0.5, columns * cell + 2, mates.length * strip.row + 1)
  context.strokeStyle = css(theme.primary)
  if (open >= 0) context.strokeRect(left - 1, strip.y + open * strip.row - 0.5, columns * cell + 2, strip.row + 1)
}

// The cache's columns up to now, one colour scale for all frames: it clips nothing and does not change while scrubbing.
function drawCache(context, axis, { parts, left, cell }, reel, name, now, theme) {
  const columns = reel[name]
  if (!columns.length) return
  const key = `${reel.version} ${theme.dark}`
  const depth = columns[0].length
  const canvas = pictureOf(axis, name)
  if (axis.painted[name] !== key) {
    const most = Math.max(1e-9, ...columns.map((column) => column.reduce((m, x) => Math.max(m, Math.abs(x)), 0)))
    axis.most[name] = most
    const colors = ramp(theme.diverging)
    paintPixels(canvas, columns.length, depth, (i) => {
      const value = columns[i % columns.length][Math.floor(i / columns.length)]
      return colors[Math.round(127.5 + (127.5 * value) / most)]
    })
    axis.painted[name] = key
  }
  const shown = Math.min(now + 1, columns.length)
  const { y, height } = parts[name]
  drawPicture(context, canvas, [left, y, shown * cell, height], shown)
}

const pictureOf = (axis, name) => (axis.pictures[name] ??= document.createElement("canvas"))

function drawPicture(context, canvas, [x, y, width, height], shown = canvas.width) {
  context.imageSmoothingEnabled = height * sharpness() < canvas.height
  context.drawImage(canvas, 0, 0, shown, canvas.height, x, y, width, height)
}

function drawColumnLabels(context, layout, { reel, meta }, { row, keys, position }, now, theme) {
  const { parts: { bars }, left, cell, slanted } = layout
  if (slanted) {
    context.textAlign = "left"
    for (let column = 0; column <= now; column++) {
      context.save()
      context.translate(left + (column + 0.5) * cell + 3, bars.y - 4)
      context.rotate(-SLOPE)
      context.fillStyle = css(column === now ? theme.query : theme.text)
      context.fillText(fitText(context, isolate(labelAt(reel, column)), 72), 0, 0)
      context.restore()
    }
    return
  }
  context.textAlign = "left"
  context.lineWidth = 1
  for (const [column, x] of namedColumns(row, now, layout)) {
    context.strokeStyle = css(mix(theme.background, theme.quiet, 0.6))
    context.beginPath()
    context.moveTo(x, bars.y - 13)
    context.lineTo(left + (column + 0.5) * cell, bars.y + 3)
    context.stroke()
    const at = keys ? keys[column] : column
    const name = fitText(context, isolate(labelAt(reel, at)), 44)
    const share = Number.isNaN(row[column]) ? "" : ` ${fill(meta.texts.percent, { number: formatShort(row[column], "percent") })}`
    const words = name + share
    context.save()
    context.translate(Math.min(x + 3, layout.width - 8), bars.y - 14)
    context.rotate(-Math.max(SLOPE, Math.acos(Math.min(1, (layout.width - x) / context.measureText(words).width))))
    context.fillStyle = css(at === position ? theme.query : theme.text)
    context.fillText(words, 0, 0)
    context.restore()
  }
}

function drawNames(context, { parts, left }, { view, texts }, theme) {
  context.textAlign = "right"
  context.textBaseline = "middle"
  const name = (text, y, color) => {
    context.fillStyle = css(color)
    context.fillText(fitText(context, text, left - 10), left - 7, y)
  }
  name(`L${view.head[0]}H${view.head[1]}`, parts.bars.y + parts.bars.height - 7, theme.primary)
  name(texts.cache_k, parts.k.y + parts.k.height / 2, theme.key)
  name(texts.cache_v, parts.v.y + parts.v.height / 2, theme.valueWords)
  if (parts.strip) {
    const { y, row } = parts.strip
    let last = -99
    view.heads.forEach(([layer], i) => {
      const first = i === 0 || view.heads[i - 1][0] !== layer
      const count = view.heads.filter(([other]) => other === layer).length
      const middle = y + (i + count / 2) * row
      if (!first || middle - last < 11) return
      last = middle
      name(`L${layer}`, middle, layer === view.head[0] ? theme.primary : theme.quiet)
    })
  }
  context.textBaseline = "alphabetic"
}

