// One axis of tokens for everything that the new token affects: its attention, in every layer and in each head of the
// open one, and the KV cache, which has one more column in every frame.

import { fitText, measuring, sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { paintPixels } from "../shared/pixels.js"
import { pointIn, sharpness } from "../shared/room.js"
import { announcer } from "../shared/shell.js"
import { css, mix, ramp } from "../shared/theme.js"
import { createArcs, drawArcs } from "./arcs.js"
import { axisLayout, MASKED, place, rowBox } from "./axis_layout.js"
import { drawWords } from "./axis_words.js"

export function createAxis(act, chips) {
  const heading = element("div", { className: "heading finding", role: "heading", "aria-level": "2" })
  const canvas = element("canvas", { role: "img", tabIndex: 0 })
  const curtain = element("div", { className: "curtain" })
  const lead = element("div", { className: "lead" })
  const caption = element("p", { className: "note caption" })
  const cache = element("p", { className: "note cache" })
  const legend = element("div", { className: "legend" })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  const arcs = createArcs()
  const text = element("div", { className: "text" }, arcs.picture, lead, chips, arcs.shares)
  const rows = element("div", { className: "rows" }, canvas, curtain)
  const box = element("div", { className: "axis" }, heading, text, rows, caption, legend, cache, live)
  const axis = /** @type {any} */ ({
    box, heading, text, arcs, chips, lead, canvas, curtain, caption, legend, cache, live, hover: null, pictures: {}, painted: {}, most: {},
    layout: null,
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
    const [layer, head] = (found?.part === "strip" && axis.rows[found.row]) || []
    if (layer !== undefined) act("head", [layer, head ?? axis.open[1]])
  })
  return axis
}

// Where everything is; the chips need it before they are drawn.
export function layOut(axis, state, theme) {
  const width = axis.box.clientWidth
  if (!width) return null
  const { view } = state.meta
  Object.assign(axis, { rows: view.heads.length ? view.heads : [view.head], open: view.head })
  axis.layout = axisLayout(state, width, (text, size) => measuring(`${size}px ${theme.font}`).measureText(text).width)
  axis.box.dataset.mode = axis.layout.mode
  return axis.layout
}

export function drawAxis(axis, state, theme) {
  const { layout } = axis
  const { reel, meta, at } = state
  const frame = reel.frames[at]
  const now = Math.floor(frame.position / layout.bin) // the new token's column
  drawArcs(axis.arcs, layout, { reel, meta, frame, now }, theme)
  const context = sizeCanvas(axis.canvas, layout.width, layout.height)
  context.font = `11px ${theme.font}`
  drawRows(context, axis, meta.view, frame, theme)
  for (const name of ["k", "v"]) drawCache(context, axis, reel, name, now, theme)
  drawNames(context, axis, meta, theme)
  const { k, v } = layout.cache
  const [x, y, wide, height] = [layout.left[now], k.y, layout.wide[now], v.y + v.height - k.y]
  context.strokeStyle = css(theme.query)
  context.lineWidth = 1.5
  context.strokeRect(x - 0.5, y - 1, wide + 1, height + 2)
  Object.assign(axis.curtain.style, { left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${height}px` })
  drawWords(axis, state, frame)
}

function drawRows(context, axis, view, frame, theme) {
  const { layout, rows } = axis
  const columns = frame.row.length
  const colors = ramp(theme.sequential)
  const canvas = pictureOf(axis, "strip")
  const level = (i) => (frame.strip ? frame.strip[i] : Number.isNaN(frame.row[i]) ? MASKED : Math.round(frame.row[i] * 254))
  paintPixels(canvas, columns, rows.length, (i) => (level(i) === MASKED ? CLEAR : colors[Math.round((level(i) * 255) / 254)]))
  const end = layout.left[columns - 1] + layout.wide[columns - 1]
  const masked = frame.strip ? frame.strip.includes(MASKED) : frame.row.some(Number.isNaN)
  const lines = masked && hatch(context, theme) // shows where the picture is clear
  for (const { first, count, y, row } of layout.runs) {
    for (let column = 0; column < columns; column++) {
      const [x, wide] = [layout.left[column], layout.wide[column]]
      if (lines) {
        context.fillStyle = lines
        context.fillRect(x, y, wide, count * row)
      }
      drawPart(context, canvas, [column, first, count], [x, y, wide, count * row])
    }
    if (row < 5) continue
    context.fillStyle = css(theme.background)
    for (let i = 1; i < count; i++) context.fillRect(layout.gutter, y + i * row - 0.5, end - layout.gutter, row > 14 ? 2 : 1)
  }
  const [layer, head] = view.head
  const around = (from, to, color) => {
    const [top, bottom] = [rowBox(layout, from), rowBox(layout, to)]
    context.strokeStyle = css(color)
    context.strokeRect(layout.gutter - 1.5, top.y - 1, end - layout.gutter + 3, bottom.y + bottom.height - top.y + 2)
  }
  context.lineWidth = 1.5
  const mates = rows.flatMap(([l, h], i) => (l === layer && h !== null && Math.floor(h / view.group) === Math.floor(head / view.group) ? [i] : []))
  if (mates.length > 1) around(mates[0], mates.at(-1), mix(theme.background, theme.primary, 0.5)) // they share keys and values
  const open = rows.findIndex(([l, h]) => l === layer && h === head)
  if (open >= 0) around(open, open, theme.primary)
}

// The cache's columns so far, with one colour scale for all frames, which does not clip and does not change while
// scrubbing.
function drawCache(context, axis, reel, name, now, theme) {
  const { layout } = axis
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
  const { y, height } = layout.cache[name]
  for (let column = 0; column < Math.min(now + 1, columns.length); column++) {
    drawPart(context, canvas, [column, 0, depth], [layout.left[column], y, layout.wide[column], height])
  }
}

const pictureOf = (axis, name) => (axis.pictures[name] ??= document.createElement("canvas"))

// Some rows of a picture's column.
function drawPart(context, canvas, [column, first, count], [x, y, width, height]) {
  context.imageSmoothingEnabled = height * sharpness() < count
  context.drawImage(canvas, column, first, 1, count, x, y, width, height)
}

function drawNames(context, axis, { view, texts }, theme) {
  const { layout, rows } = axis
  context.textAlign = "right"
  context.textBaseline = "middle"
  const name = (text, y, color, right = layout.gutter - 7) => {
    context.fillStyle = css(color)
    context.fillText(fitText(context, text, right - 3), right, y)
  }
  let last = -99
  rows.forEach(([layer, head], i) => {
    const { y, height } = rowBox(layout, i)
    const middle = y + height / 2
    const isOpen = layer === view.head[0] && head === view.head[1]
    if (head !== null && (i === 0 || rows[i - 1][1] === null)) name(`L${layer}`, middle, theme.primary, 22)
    const told = head === null ? `L${layer}` : `H${head}`
    if (!isOpen && middle - last < 10) return
    if (isOpen && middle - last < 10) context.clearRect(23, last - 6, layout.gutter - 29, 12)
    last = middle
    name(told, middle, isOpen ? theme.primary : theme.quiet)
  })
  for (const [part, color] of [["k", theme.key], ["v", theme.valueWords]]) {
    const { y, height } = layout.cache[part]
    name(texts[`cache_${part}`], y + height / 2, color)
  }
  context.textBaseline = "alphabetic"
}
