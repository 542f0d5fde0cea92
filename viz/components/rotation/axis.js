// Text, lines and axes of small charts on a canvas.

import { css } from "../shared/theme.js"
import { tidy } from "../shared/words.js"
/** @import { RGB, Theme } from "../shared/types" */

export const SMALL = 11 // CSS pixels of ticks and captions

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{ color?: RGB, align?: CanvasTextAlign, baseline?: CanvasTextBaseline, size?: number, bold?: boolean }} look
 */
export function write(context, theme, text, x, y, { color = theme.quiet, align = "left", baseline = "alphabetic", size = SMALL, bold = false } = {}) {
  context.font = `${bold ? "600 " : ""}${size}px ${theme.font}`
  Object.assign(context, { fillStyle: css(color), textAlign: align, textBaseline: baseline })
  context.fillText(text, x, y)
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {{ width?: number, dash?: number[] }} look
 */
export function rule(context, color, x0, y0, x1, y1, { width = 1, dash = [] } = {}) {
  context.save()
  context.setLineDash(dash)
  Object.assign(context, { strokeStyle: color, lineWidth: width })
  context.beginPath()
  context.moveTo(x0, y0)
  context.lineTo(x1, y1)
  context.stroke()
  context.restore()
}

export function disc(context, color, x, y, radius) {
  context.fillStyle = color
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fill()
}

// Draw points as one line, with a gap at numbers that are not finite.
export function curve(context, color, points, width = 1.5) {
  Object.assign(context, { strokeStyle: color, lineWidth: width, lineJoin: "round" })
  context.beginPath()
  let drawing = false
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) drawing = false
    else if (drawing) context.lineTo(x, y)
    else {
      context.moveTo(x, y)
      drawing = true
    }
  }
  context.stroke()
}

// 0.00562, 1.00, 4.2e−5: a frequency keeps three digits however small it is.
export function threeDigits(value) {
  const size = Math.abs(value)
  return size === 0 ? "0" : tidy(size < 1e-3 ? value.toExponential(1) : size >= 100 ? value.toFixed(0) : value.toPrecision(3))
}

export const subscripted = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit] ?? digit).join("")
