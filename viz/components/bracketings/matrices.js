// A matrix as a picture of its numbers, with its name, its shape, and the part that is marked.

import { element } from "../shared/dom.js"
import { CLEAR, hatchImage } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { copyPixels, paintPixels, wordOf } from "../shared/pixels.js"
import { css, mix, rampColor } from "../shared/theme.js"
/** @import { RGB, Theme } from "../shared/types" */

export function createMatrix(name) {
  const canvas = element("canvas", {})
  const mark = element("div", { className: "mark", hidden: true })
  const picture = element("div", { className: "picture" }, canvas, mark)
  const [title, shape] = ["title", "shape"].map((className) => element("span", { className }))
  const box = element("figure", { className: `matrix ${name}` }, picture, element("figcaption", {}, title, " ", shape))
  return { box, canvas, mark, title, shape }
}

/** @typedef {{ first: number, stop: number, along: string }} Marked */

// `wordAt` gives the colour of a cell; `marked` rows or columns are outlined. `like`: a matrix just drawn with the same
// contents, whose colours are not computed again.
/** @type {(matrix: any, what: { name: string, rows: number, columns: number, cell: number, wordAt: (index: number) => number, marked?: Marked | null }, like?: any) => void} */
export function drawMatrix({ canvas, mark, title, shape }, { name, rows, columns, cell, wordAt, marked }, like = null) {
  const [named, shaped] = [say(title, name), say(shape, `${rows} × ${columns}`)]
  if (named || shaped) {
    canvas.setAttribute("role", "img") // now that it shows something
    canvas.setAttribute("aria-label", `${name}: ${shape.textContent}`)
  }
  if (like) copyPixels(canvas, like.canvas)
  else paintPixels(canvas, columns, rows, wordAt)
  Object.assign(canvas.style, { width: `${columns * cell}px`, height: `${rows * cell}px` })
  mark.hidden = !marked
  if (!marked) return
  const [from, size] = [marked.first * cell, (marked.stop - marked.first) * cell]
  const across = marked.along === "columns"
  Object.assign(mark.style, {
    left: across ? `${from}px` : "0", top: across ? "0" : `${from}px`,
    width: across ? `${size}px` : `${columns * cell}px`, height: across ? `${rows * cell}px` : `${size}px`,
  })
}

// Writing the same text again costs a layout too; returns whether the text changed.
/** @type {(node: Element, words: string) => boolean} */
export function say(node, words) {
  if (node.textContent === words) return false
  node.textContent = words
  return true
}

/** @type {WeakMap<object, any>} */
const kept = new WeakMap()

// A value made once from an object that does not change, and possibly from a name.
/** @type {<T>(object: object, name: string, make: () => T) => T} */
function once(object, name, make) {
  const found = kept.get(object) ?? {}
  kept.set(object, found)
  return (found[name] ??= make())
}

// The largest absolute value of these numbers, which do not change; at least a tiny one.
/** @type {(values: ArrayLike<number>) => number} */
export const largest = (values) =>
  once(values, "largest", () => {
    let most = 1e-12
    for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]))
    return most
  })

const STEPS = 64

// Colours by absolute value, from the page's own tone to `color`; a 0 is still visible as a cell.
/** @type {(theme: Theme, color: RGB) => (share: number) => number} */
export function shades(theme, color) {
  const tone = (_, i) => wordOf(mix(theme.background, color, 0.08 + (0.92 * i) / STEPS))
  const words = once(theme, css(color), () => Array.from({ length: STEPS + 1 }, tone))
  return (share) => words[Math.round(STEPS * clamp(Math.abs(share), 0, 1))]
}

// Colours on both sides of 0.
/** @type {(theme: Theme) => (share: number) => number} */
export function signs(theme) {
  const tone = (_, i) => wordOf(rampColor(theme.diverging, i / (2 * STEPS)))
  const words = once(theme, "signs", () => Array.from({ length: 2 * STEPS + 1 }, tone))
  return (share) => words[Math.round(STEPS * (1 + clamp(share, -1, 1)))]
}

// The colours of cells still to come and of masked ones, where the canvas's paper shows.
/** @type {(theme: Theme) => { ahead: number, hidden: number, paper: string }} */
export const blanks = (theme) => ({ ahead: wordOf(mix(theme.background, theme.secondary, 0.9)), hidden: CLEAR, paper: hatchImage(theme) })

export const colorText = css
