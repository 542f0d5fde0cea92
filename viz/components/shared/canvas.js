// Canvases that are sharp on every screen, and text that fits.

import { sharpness } from "./room.js"

// The 2d context of a canvas. Our canvases use no other kind.
/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))

// Give the canvas this size in CSS pixels, sharp on this screen, and return its cleared context.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => CanvasRenderingContext2D} */
export function sizeCanvas(canvas, width, height) {
  const ratio = sharpness()
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h })
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  const context = contextOf(canvas)
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

/** @type {CanvasRenderingContext2D | null} */
let pen = null

// A context that draws nothing and measures text in this font.
/** @type {(font: string) => CanvasRenderingContext2D} */
export function measuring(font) {
  pen ??= contextOf(document.createElement("canvas"))
  pen.font = font
  return pen
}

// The longest prefix of `text` that fits `width` in the context's font, followed by … if it was cut.
/** @type {(context: CanvasRenderingContext2D, text: string, width: number) => string} */
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text
  const letters = [...text]
  let [low, high] = [0, letters.length]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (context.measureText(letters.slice(0, middle).join("") + "…").width <= width) low = middle
    else high = middle - 1
  }
  return low ? letters.slice(0, low).join("") + "…" : ""
}
