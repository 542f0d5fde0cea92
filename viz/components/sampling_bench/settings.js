// The transforms as controls: where a slider stands, what a typed text means, and what it may be. The table of them comes
// with the payload.

import { clamp } from "../shared/numbers.js"
import { fill, shareDigits } from "../shared/words.js"

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const NAMED = /^[+-]?(nan|inf|infinity)$/i

// Every setting off, in the usual order.
export const offSettings = ({ transforms }) => ({
  ...Object.fromEntries(Object.entries(transforms).map(([name, { off }]) => [name, off])),
  order: Object.keys(transforms),
})

// The slider's place of a value: the step nearest to it. Off has its own: its neighbours stand for what is nearly off.
export function stepOf(value, { steps, off }) {
  if (steps.includes(value)) return steps.indexOf(value)
  const near = clamp(value, Math.min(...steps), Math.max(...steps)) // so far beyond an end all would be as far
  const apart = (step) => (step === off ? Infinity : Math.abs(step - near))
  return steps.reduce((best, step, i) => (apart(step) < apart(steps[best]) ? i : best), 0)
}

// Whether a setting may have this value; as Python's Bounds.hold.
export function isPossible(value, { least, most, open, or_zero, whole }) {
  if (or_zero && value === 0) return true
  if (whole && !Number.isInteger(value)) return false
  return value >= least && value <= (most ?? Number.MAX_VALUE) && value !== { least, most }[open]
}

// A typed text -> {value} or {problem: the sentence}.
export function readSetting(text, { label, rule, bounds }, texts) {
  const typed = text.trim()
  const value = PLAIN.test(typed) ? Number(typed) : NaN
  if (isPossible(value, bounds)) return { value }
  const isNumber = PLAIN.test(typed) || NAMED.test(typed)
  return { problem: isNumber ? fill(rule, { value: typed }) : fill(texts.not_number, { value: typed, what: label }) }
}

// A seed is a whole number of any length, kept as text.
export function readSeed(text, texts) {
  const typed = text.trim()
  if (/^[+-]?\d{1,4000}$/.test(typed)) return { value: String(BigInt(typed.replace(/^\+/, ""))) }
  const key = PLAIN.test(typed) || NAMED.test(typed) ? texts.seed_rule : texts.not_number
  return { problem: fill(key, { value: typed, what: texts.seed }) }
}

// The settings that are compared.
export const benches = (state) => (state.compare ? ["a", "b"] : ["a"])

// ---- numbers on the bench ----

// A probability in percent: as all shares where it is large, two digits where it is small, never 0 for what is possible:
// that is at least said to be `below` this power of ten, from which on the number is not known.
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

export const LEAST = -300 // of a token: near the smallest number of 64 bits
export const LEAST_REST = -12 // of what 1 leaves

export const raised = (power) => String(power).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻")

export const bits = (entropy) => Math.abs(entropy).toFixed(2)
