// Pictures of one pixel a cell, which are drawn larger without smoothing.

import { contextOf } from "./canvas.js"
/** @import { RGB } from "./types" */

// A colour as ImageData has it: a little-endian word.
/** @type {(color: RGB) => number} */
export const wordOf = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0

// Make the canvas this many cells wide and high, each of the word that `wordAt` gives for its index.
/** @type {(canvas: HTMLCanvasElement, columns: number, rows: number, wordAt: (index: number) => number) => void} */
export function paintPixels(canvas, columns, rows, wordAt) {
  sized(canvas, columns, rows)
  const image = new ImageData(columns, rows)
  const pixels = new Uint32Array(image.data.buffer)
  for (let i = 0; i < pixels.length; i++) pixels[i] = wordAt(i)
  contextOf(canvas).putImageData(image, 0, 0)
}

// What another canvas shows, drawn anew here.
/** @type {(canvas: HTMLCanvasElement, other: HTMLCanvasElement) => void} */
export function copyPixels(canvas, other) {
  sized(canvas, other.width, other.height)
  const context = contextOf(canvas)
  context.clearRect(0, 0, other.width, other.height)
  context.drawImage(other, 0, 0)
}

// A canvas whose size is set loses its memory, also where it has that size.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => void} */
function sized(canvas, width, height) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
}
