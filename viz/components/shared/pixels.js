// Pictures with one pixel per cell, which are enlarged without smoothing.

import { contextOf } from "./canvas.js"
/** @import { RGB } from "./types" */

// A colour as a little-endian word of ImageData.
/** @type {(color: RGB) => number} */
export const wordOf = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0

// Resize the canvas to this many cells and fill each with the word that `wordAt` returns for its index.
/** @type {(canvas: HTMLCanvasElement, columns: number, rows: number, wordAt: (index: number) => number) => void} */
export function paintPixels(canvas, columns, rows, wordAt) {
  sized(canvas, columns, rows)
  const image = new ImageData(columns, rows)
  const pixels = new Uint32Array(image.data.buffer)
  for (let i = 0; i < pixels.length; i++) pixels[i] = wordAt(i)
  contextOf(canvas).putImageData(image, 0, 0)
}

// Copy the picture of another canvas to this one.
/** @type {(canvas: HTMLCanvasElement, other: HTMLCanvasElement) => void} */
export function copyPixels(canvas, other) {
  sized(canvas, other.width, other.height)
  const context = contextOf(canvas)
  context.clearRect(0, 0, other.width, other.height)
  context.drawImage(other, 0, 0)
}

// Set the size only if it differs: setting it clears the canvas and reallocates its memory.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => void} */
function sized(canvas, width, height) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
}
