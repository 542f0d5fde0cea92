// Colours: the theme of the surrounding page, colour ramps, and readable text colours.

import { clamp } from "./numbers.js"
import { wordOf } from "./pixels.js"
/** @import { Palette, Ramp, RGB, Root, Theme } from "./types" */

// The colour as CSS.
/** @type {(color: RGB | number[], alpha?: number) => string} */
export const css = ([r, g, b], alpha = 1) => (alpha >= 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`)

/** @type {CanvasRenderingContext2D | null} */
let judge = null // a context that parses colours

// Any CSS colour -> [r, g, b, a]; null when the browser cannot parse it.
/** @type {(text: string) => any} */
function rgba(text) {
  judge ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const context = judge
  if (!context) return null
  context.fillStyle = "#010203"
  context.fillStyle = text
  const hex = /^#(..)(..)(..)$/.exec(context.fillStyle)
  if (hex) return context.fillStyle === "#010203" ? null : [...hex.slice(1).map((part) => parseInt(part, 16)), 1]
  const parts = context.fillStyle.match(/[\d.]+/g)
  return parts ? parts.slice(0, 4).map(Number) : null
}

/** @type {(a: RGB, b: RGB, t: number) => RGB} */
export const mix = (a, b, t) => /** @type {RGB} */ ([0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * t)))

// WCAG relative luminance, 0..1.
/** @type {(color: RGB) => number} */
export function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  return 0.2126 * x + 0.7152 * y + 0.0722 * z
}

// The contrast ratio of two colours as WCAG 2 defines it, from 1 to 21.
/** @type {(a: RGB, b: RGB) => number} */
export function contrast(a, b) {
  const [dim, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (bright + 0.05) / (dim + 0.05)
}

// The colour, mixed with the text colour as far as text in it needs for contrast `least` on this ground.
/** @type {(color: RGB, ground: RGB, text: RGB, least?: number) => RGB} */
export function readable(color, ground, text, least = 4.5) {
  let found = color
  for (let step = 1; step <= 20 && contrast(found, ground) < least; step++) found = mix(color, text, step / 20)
  return found
}

// All colours of a component, from those of the page around it. `clear` is for a projector: it raises `least`, the
// minimum contrast of words.
/** @type {(given: { background: RGB, text: RGB, secondary: RGB, primary: RGB }, palette: Palette | undefined, clear: boolean) => any} */
export function themeColors({ background, text, secondary, primary }, palette, clear) {
  const dark = luminance(background) < 0.2
  const words = (color) => readable(color, background, text, clear ? 7 : 4.5)
  const colors = /** @type {any} */ ({
    dark, background, text, secondary, least: clear ? 7 : 4.5,
    primary: words(primary),
    quiet: mix(background, text, clear ? 0.85 : 0.64), // axis words, ticks
    rule: mix(background, text, clear ? 0.35 : 0.16), // thin lines
  })
  if (!palette) return colors
  const side = dark ? "dark" : "light"
  for (const name of ["query", "key", "compare"]) colors[name] = words(palette[name][side])
  for (const name of ["value", "masked", "sequential", "diverging"]) colors[name] = palette[name][side]
  colors.valueWords = words(colors.value) // for words only: shapes this dark are hard to tell from the query's colour for some readers
  if (clear) colors.masked = mix(colors.masked, text, 0.12)
  return colors
}

// The theme around `root`, from Streamlit's variables or, in a page of our own, from prefers-color-scheme. Also writes
// data-theme and the variables --aa-… on the root, so that the style sheet needs no fallbacks. Colours are [r, g, b];
// with a palette (color.py) it also gives query, key, value, masked and the ramps' control points.
/** @type {(root: Root, palette?: Palette) => Theme} */
export function readTheme(root, palette) {
  const style = getComputedStyle(root)
  const wantsDark = matchMedia("(prefers-color-scheme: dark)").matches
  const read = (name, light, dark) =>
    (rgba(style.getPropertyValue(`--st-${name}`).trim() || "-") ?? rgba(wantsDark ? dark : light)).slice(0, 3)
  const background = read("background-color", "#fcfcfa", "#14151a")
  const text = read("text-color", "#1a1c22", "#e8e8ec")
  const clear = "projector" in document.documentElement.dataset // for a distant screen
  const given = {
    background,
    text,
    secondary: read("secondary-background-color", "#f3f3ee", "#1b1c22"),
    primary: read("primary-color", "#36339a", "#9ea0f0"),
  }
  const theme = /** @type {Theme} */ ({
    ...themeColors(given, palette, clear),
    font: style.getPropertyValue("--st-font").trim() || "system-ui, sans-serif",
  })
  root.dataset.theme = theme.dark ? "dark" : "light"
  for (const name of ["background", "text", "quiet", "rule", "secondary", "primary", "query", "key", "value", "compare"]) {
    if (theme[name]) root.style.setProperty(`--aa-${name}`, css(theme[name]))
  }
  if (theme.valueWords) root.style.setProperty("--aa-value-words", css(theme.valueWords))
  root.style.setProperty("--aa-font", theme.font)
  return theme
}

// Control points [[t, r, g, b], …] -> 256 colours as the little-endian words of ImageData.
/** @type {(points: Ramp) => Uint32Array} */
export function ramp(points) {
  const words = new Uint32Array(256)
  for (let i = 0; i < 256; i++) {
    words[i] = wordOf(rampColor(points, i / 255))
  }
  return words
}

/** @type {(points: Ramp, t: number) => RGB} */
export function rampColor(points, t) {
  let i = 1
  while (i < points.length - 1 && t > points[i][0]) i++
  const [t0, ...from] = points[i - 1]
  const [t1, ...to] = points[i]
  return mix(from, to, clamp((t - t0) / (t1 - t0), 0, 1))
}

// The text colour on a cell of this colour: black or white, whichever has more contrast. The lowest contrast of any
// colour is 4.58:1; softer text colours would fall below the 4.5:1 that WCAG requires.
/** @type {(color: RGB) => RGB} */
export const inkOn = (color) => (luminance(color) > 0.179 ? [0, 0, 0] : [255, 255, 255])
