// Positions of the figure's parts, in CSS pixels, and what is under a point.

import { inRoom, sharpness } from "../shared/room.js"
import { zoomFor } from "./pyramid.js"

export const FONT = 12
export const SMALL = 11
export const LEAN = Math.PI / 3 // key labels lean by 60°
export const STRIP = 9 // the first token's column
const GAP = 5
const NARROW = 520

/** @param {any} state */
export function layOut(state, width) {
  const narrow = width < NARROW
  const [left, top, right, below] = narrow ? [74, 70, 8, 56] : [112, 88, 30, 54]
  const side = Math.max(120, Math.min(inRoom(state.meta.max_height) - top - below, width - left - STRIP - GAP - right))
  return {
    narrow, most: narrow ? 60 : 88,
    strip: { x: left, y: top, width: STRIP, height: side },
    plot: { x: left + STRIP + GAP, y: top, width: side, height: side },
    width: left + STRIP + GAP + side + right, height: top + side + below,
  }
}

// Whether a number centred here does not touch the first token's name at its left, or the right edge.
/** @type {(layout: { plot: { x: number }, width: number }, x: number) => boolean} */
export const levelFits = (layout, x) => x - layout.plot.x >= 24 && x + 18 <= layout.width

// The whole map, as view.js needs it: queries and keys.
/** @type {(state: any) => [number, number]} */
export const sizeOf = ({ meta }) => [meta.tokens, meta.tokens]

// Pixels per cell in the current view.
export const cellOf = ({ layout, view }) => layout.plot.width / (view.k1 - view.k0)
export const zoomOf = (state) => zoomFor(state.meta.tokens, 1 / (cellOf(state) * sharpness()))

// Tokens -> screen, and back. Fractions are inside a token.
export const xAt = (state, key) => state.layout.plot.x + (key - state.view.k0) * cellOf(state)
export const yAt = (state, query) => state.layout.plot.y + (query - state.view.q0) * cellOf(state)
export const keyOn = (state, x) => state.view.k0 + (x - state.layout.plot.x) / cellOf(state)
export const queryOn = (state, y) => state.view.q0 + (y - state.layout.plot.y) / cellOf(state)

// The cell [query, key] under a point of the plot, or on the first token's strip; null elsewhere.
export function cellOn(state, { x, y }) {
  const { plot, strip } = state.layout
  const last = state.meta.tokens - 1
  if (y < plot.y || y >= plot.y + plot.height) return null
  const query = Math.min(last, Math.floor(queryOn(state, y)))
  if (x >= strip.x && x < strip.x + strip.width + GAP) return [query, 0]
  if (x < plot.x || x >= plot.x + plot.width) return null
  return [query, Math.min(last, Math.floor(keyOn(state, x)))]
}
