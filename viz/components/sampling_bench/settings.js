// The transforms as controls: slider positions, and parsing and validating typed text. The payload contains the table
// of transforms.

import { clamp } from "../shared/numbers.js"
import { fill, shareDigits } from "../shared/words.js"

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const NAMED = /^[+-]?(nan|inf|infinity)$/i

// All settings off, in the default order.
export const offSettings = ({ transforms }) => ({
  ...Object.fromEntries(Object.entries(transforms).map(([name, { off }]) => [name, off])),
  order: Object.keys(transforms),
})

// The slider step nearest to a value. The step "off" is used only for exactly that value; a value that is nearly off
// gets a neighbouring step.
export function stepOf(value, { steps, off }) {
  if (steps.includes(value)) return steps.indexOf(value)
  const near = clamp(value, Math.min(...steps), Math.max(...steps)) // far beyond an end, rounding would make all steps equally near
  const apart = (step) => (step === off ? Infinity : Math.abs(step - near))
  return steps.reduce((best, step, i) => (apart(step) < apart(steps[best]) ? i : best), 0)
}

// Whether a setting may have this value; same as Bounds.hold in Python.
export function isPossible(value, { least, most, open, or_zero, whole }) {
  if (or_zero && value === 0) return true
  if (whole && !Number.isInteger(value)) return false
  return value >= least && value <= (most ?? Number.MAX_VALUE) && value !== { least, most }[open]
}

// Parse typed text: {value} or {problem: a sentence}.
export function readSetting(text, { label, rule, bounds }, texts) {
  const typed = text.trim()
  const value = PLAIN.test(typed) ? Number(typed) : NaN
  if (isPossible(value, bounds)) return { value }
  const isNumber = PLAIN.test(typed) || NAMED.test(typed)
  return { problem: isNumber ? fill(rule, { value: typed }) : fill(texts.not_number, { value: typed, what: label }) }
}

// Parse a seed: an integer of any length, kept as text.
export function readSeed(text, texts) {
  const typed = text.trim()
  if (/^[+-]?\d{1,4000}$/.test(typed)) return { value: String(BigInt(typed.replace(/^\+/, ""))) }
  const key = PLAIN.test(typed) || NAMED.test(typed) ? texts.seed_rule : texts.not_number
  return { problem: fill(key, { value: typed, what: texts.seed }) }
}

// The names of the settings shown: one, or the two that are compared.
export const benches = (state) => (state.compare ? ["a", "b"] : ["a"])

// ---- numbers on the bench ----

// A probability in percent: formatted like every share if it is large, with two significant digits if it is small. A
// possible token never reads as 0: below 10 to the power `below`, where the exact number is not known, the text is "<
// …".
/** @type {(p: number, texts: Record<string, string>, below?: number | null) => string} */
export function chance(p, texts, below = null) {
  const percent = 100 * p
  if (below !== null && percent < 10 ** below) return fill(texts.percent, { number: `< 10${raised(below)}` })
  if (p === 0) return fill(texts.percent, { number: "0" })
  if (percent >= 0.995) return fill(texts.percent, { number: shareDigits(p) })
  if (percent >= 1e-4) return fill(texts.percent, { number: percent.toFixed(1 - Math.floor(Math.log10(percent))) })
  const [digit, power] = percent.toExponential(0).split("e")
  return fill(texts.percent, { number: `${digit}×10${raised(Number(power))}` })
}

export const LEAST = -300 // for a token: near the smallest float64
export const LEAST_REST = -12 // for a difference from 1

export const raised = (power) => String(power).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻")

export const bits = (entropy) => Math.abs(entropy).toFixed(2)
