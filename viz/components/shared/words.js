// Format templates, tokens and numbers as text.

/** @import { Texts } from "./types" */

// "{query} looks {value}" with {query: "·it", value: "91 %"}; a placeholder without a value is left in place.
/** @type {(template: string | undefined, values: Record<string, unknown>) => string} */
export function fill(template, values) {
  return String(template ?? "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))
}

// Wrap a token in direction marks so that right-to-left text does not reorder what is drawn next to it.
/** @type {(text: string) => string} */
export const isolate = (text) => `\u2068${text}\u2069`

const GROUPED = new Intl.NumberFormat("en-US")

// "4,096": the same thousands separator in every language.
/** @type {(count: number) => string} */
export const wholeNumber = (count) => GROUPED.format(count)

// A weight as a percentage with about two significant digits; another number with about three. A true minus sign.
/** @type {(value: number, number: string, texts?: Texts) => string} */
export function formatNumber(value, number, texts) {
  if (!Number.isFinite(value)) return texts?.undefined ?? "–"
  if (number !== "percent") return formatPlain(value)
  return fill(texts?.percent ?? "{number} %", { number: shareDigits(value) })
}

// A share from here on is written as 100, as in viz/share_text.py: the remainder is less than the smallest share
// written.
export const WHOLE = 1 - 1e-4

// A share in percent, written as by share_digits in viz/share_text.py: less than everything never reads as 100, and
// more than nothing never reads as 0.
/** @type {(share: number) => string} */
export function shareDigits(share) {
  const size = Math.abs(share) * 100
  const sign = share < 0 ? "\u2212" : ""
  if (size > 0 && size < 0.01) return sign ? `> ${sign}0.01` : "< 0.01"
  if (size >= 99.95 && size < 100 * WHOLE) return sign ? `< ${sign}99.9` : "> 99.9"
  if (size >= 99.5 && size < 99.95) return sign + size.toFixed(1)
  if (size === 0 || size >= 9.95) return sign + size.toFixed(0)
  return sign + (size >= 0.05 ? size.toFixed(1) : String(Number(size.toPrecision(1))))
}

// A short form for small cells: whole percent without the sign, or one significant digit.
/** @type {(value: number, number: string) => string} */
export function formatShort(value, number) {
  if (number !== "percent") return formatPlain(Number(value.toPrecision(1)))
  if (value > 0 && value < 0.005) return "<1"
  return value >= 0.995 && value < WHOLE ? ">99" : tidy((100 * value).toFixed(0))
}

/** @type {(value: number) => string} */
export function formatPlain(value) {
  const size = Math.abs(value)
  if (size === 0) return "0"
  if (size >= 1e5 || size < 1e-3) return tidy(value.toExponential(1))
  return tidy(size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(size >= 0.1 ? 2 : 3))
}

/** @type {(digits: string) => string} */
export const tidy = (digits) => digits.replace("-", "−").replace(/e\+?(−|-)?(\d+)/, (_, sign, power) => `e${sign ? "−" : ""}${power}`)
