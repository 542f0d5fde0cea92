// Vectors as strips: one column per dimension, positive numbers above the line, negative ones below; darker is larger.

import { sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { sharpness } from "../shared/room.js"
import { css, mix } from "../shared/theme.js"
import { largest } from "./numbers.js"

const BAR_GAP = 4 // narrower columns touch each other

// Left and right edge of a column, in CSS pixels on whole device pixels.
function column(i, count, width) {
  const ratio = sharpness()
  const edge = (place) => Math.round((place * width * ratio) / count) / ratio
  const [left, right] = [edge(i), edge(i + 1)]
  return [left, (width / count >= BAR_GAP ? right - 1 / ratio : right) - left]
}

export function paintStrip(canvas, values, { size, color, theme, hover, height = 22 }) {
  const width = canvas.parentElement.clientWidth
  if (!width) return
  const context = sizeCanvas(canvas, width, height)
  const middle = height / 2
  context.fillStyle = css(mix(theme.background, theme.text, 0.045))
  context.fillRect(0, 0, width, height)
  values.forEach((value, i) => {
    const [x, w] = column(i, values.length, width)
    context.fillStyle = css(mix(theme.background, color, 0.08 + 0.92 * Math.min(1, Math.abs(value) / (size || 1))))
    if (value > 0) context.fillRect(x, 0, w, middle)
    else if (value < 0) context.fillRect(x, middle, w, middle)
  })
  context.fillStyle = css(mix(theme.background, theme.text, 0.22))
  context.fillRect(0, middle - 0.5, width, 1)
  markDimension(context, theme, hover, values.length, width, height)
}

export function paintBars(canvas, values, { color, theme, hover, height }) {
  const width = canvas.parentElement.clientWidth
  if (!width) return
  const context = sizeCanvas(canvas, width, height)
  const size = largest(values) || 1
  const high = values.some((value) => value > 0) ? Math.max(...values) : 0
  const low = values.some((value) => value < 0) ? Math.min(...values) : 0
  const zero = 2 + ((height - 4) * high) / (high - low || size)
  values.forEach((value, i) => {
    const [x, w] = column(i, values.length, width)
    const length = ((height - 4) * Math.abs(value)) / (high - low || size)
    context.fillStyle = css(value < 0 ? mix(theme.background, color, 0.5) : color)
    context.fillRect(x, value < 0 ? zero : zero - length, w, length)
  })
  context.fillStyle = css(mix(theme.background, theme.text, 0.35))
  context.fillRect(0, zero - 0.5, width, 1)
  markDimension(context, theme, hover, values.length, width, height)
}

function markDimension(context, theme, hover, count, width, height) {
  if (hover === null || hover >= count) return
  const [x, w] = column(hover, count, width)
  context.strokeStyle = css(theme.text)
  context.lineWidth = 1
  context.strokeRect(x - 0.5, 0.5, Math.max(w, 2) + 1, height - 1)
}

// The dimension under the pointer.
export function dimensionAt(event, canvas, count) {
  const box = canvas.getBoundingClientRect()
  return clamp(Math.floor(((event.clientX - box.left) / box.width) * count), 0, count - 1)
}

// A strip with its name and number beside it.
/** @param {{ className: string, name?: string, place?: string, amount?: string }} words */
export function stripRow({ className, name, place, amount }) {
  const canvas = element("canvas", { role: "img" })
  const frame = element("div", { className: "strip" }, canvas)
  const label = element("div", { className: "name" })
  const number = element("div", { className: "amount" })
  const row = element("div", { className: `strip-row ${className}` }, label, frame, number)
  setLabel(label, name, place)
  number.textContent = amount ?? ""
  return { row, canvas, label, number }
}

export function setLabel(label, name, place) {
  label.replaceChildren(element("bdi", { textContent: name ?? "" }))
  if (place !== undefined) label.append(element("span", { className: "place", textContent: place }))
  label.title = name ?? ""
}
