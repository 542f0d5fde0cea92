// Cells that cannot be attended to have no colour of the scale: they show the background with thin diagonal lines.
// Lines of "masked" lean to the right and are wide apart. Lines of "left out", a key that an indexer did not choose,
// lean to the left and are closer and stronger.

import { sharpness } from "./room.js"
import { css, mix } from "./theme.js"
/** @import { RGB, Theme } from "./types" */

/** @typedef {"masked" | "leftOut"} Kind */

const EVERY = { masked: 8, leftOut: 5 } // pixels between two lines, along a row
export const CLEAR = 0 // a transparent pixel as a word of ImageData

/** @type {(theme: Theme, kind?: Kind) => RGB} */
export const lineColor = (theme, kind = "masked") => (kind === "masked" ? theme.masked : mix(theme.background, theme.text, theme.least > 4.5 ? 0.75 : 0.5))

// Whether a line passes through this screen pixel.
/** @type {(kind: Kind, x: number, y: number, sharp?: number) => boolean} */
export function onLine(kind, x, y, sharp = sharpness()) {
  const every = Math.max(2, Math.round(EVERY[kind] * sharp))
  const across = kind === "masked" ? x + y : x - y
  return (((across % every) + every) % every) < Math.max(1, Math.round(sharp))
}

/** @type {Map<string, HTMLCanvasElement>} */
const tiles = new Map()

// One tile of the pattern, in screen pixels.
/** @type {(theme: Theme, kind: Kind) => HTMLCanvasElement} */
function tileOf(theme, kind) {
  const side = Math.max(2, Math.round(EVERY[kind] * sharpness()))
  const colors = [css(theme.background), css(lineColor(theme, kind))]
  const name = [kind, side, ...colors].join()
  const known = tiles.get(name)
  if (known) return known
  const tile = document.createElement("canvas")
  Object.assign(tile, { width: side, height: side })
  const context = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"))
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      context.fillStyle = colors[onLine(kind, x, y) ? 1 : 0]
      context.fillRect(x, y, 1, 1)
    }
  }
  if (tiles.size > 16) tiles.clear()
  tiles.set(name, tile)
  return tile
}

// The background with its lines as a pattern, for a canvas sized by `sizeCanvas`.
/** @type {(context: CanvasRenderingContext2D, theme: Theme, kind?: Kind) => CanvasPattern} */
export function hatch(context, theme, kind = "masked") {
  const pattern = /** @type {CanvasPattern} */ (context.createPattern(tileOf(theme, kind), "repeat"))
  pattern.setTransform(new DOMMatrix().scale(1 / sharpness()))
  return pattern
}

// The same as a CSS background image.
/** @type {(theme: Theme, kind?: Kind) => string} */
export function hatchImage(theme, kind = "masked") {
  const [line, paper, every] = [css(lineColor(theme, kind)), css(theme.background), EVERY[kind] / Math.SQRT2]
  return `repeating-linear-gradient(${kind === "masked" ? -45 : 45}deg, ${line} 0 1px, ${paper} 1px ${every.toFixed(2)}px)`
}
