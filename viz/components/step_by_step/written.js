// Format numbers as in class: few digits, no trailing zeros, a true minus sign, and brackets around negative factors.

/** @type {(value: number, decimals?: number) => string} */
export function written(value, decimals = 2) {
  if (Number.isNaN(value)) return "NaN"
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞"
  const size = Math.abs(value)
  if (size >= 1e5 || (decimals > 0 && size > 0 && size < 0.5 * 10 ** -decimals)) return power(value)
  const digits = value.toFixed(size >= 1000 ? 0 : decimals)
  const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits
  return short.replace("-", "−")
}

// A number as it fits in a cell: about three digits, and ≈0 for numbers near 0.
/** @type {(value: number) => string} */
export function inCell(value) {
  const size = Math.abs(value)
  if (size > 0 && size < 0.005) return "≈0"
  return written(value, decimalsInCell(value))
}

// The number of decimals that a cell shows. It is negative for 1.2·10⁵, which drops all but two digits before the
// point.
/** @type {(value: number) => number} */
export function decimalsInCell(value) {
  const size = Math.abs(value)
  if (size >= 1e5) return 1 - Math.floor(Math.log10(size))
  return size < 9.995 ? 2 : size < 99.95 ? 1 : 0
}

// 2.5·10⁻⁴
function power(value) {
  const [digits, exponent] = value.toExponential(1).split("e")
  const raised = [...String(Number(exponent))].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("")
  return `${digits.replace(/\.0$/, "").replace("-", "−")}·10${raised}`
}

/** @type {(value: number, decimals?: number) => string} */
export const bracketed = (value, decimals) => (value < 0 ? `(${written(value, decimals)})` : written(value, decimals))

// "0.5 − 0.25 + 3": the terms of a sum.
/** @type {(terms: number[], decimals?: number) => string} */
export function summed(terms, decimals = 3) {
  const parts = terms.map((term, i) => {
    const size = written(Math.abs(term), decimals)
    if (i === 0) return term < 0 ? `−${size}` : size
    return term < 0 ? ` − ${size}` : ` + ${size}`
  })
  return parts.join("") || "0"
}

// "=" if the numbers are written exactly, "≈" if digits were left out.
/** @type {(values: number[], decimals?: number) => string} */
export const equals = (values, decimals = 3) =>
  values.every((value) => Math.abs(value - Number(value.toFixed(decimals))) < 1e-9 * Math.max(1, Math.abs(value))) ? "=" : "≈"

// Parse a typed number, including full-width digits of a Chinese keyboard; null if it is not a number or out of range.
/** @type {(text: string, most: number) => number | null} */
export function typed(text, most) {
  const plain = text.normalize("NFKC").trim().replace("−", "-").replace(/^([+-]?\d*),(\d+)$/, "$1.$2")
  const value = plain === "" || plain.length > 24 ? Number.NaN : Number(plain)
  return Number.isFinite(value) && Math.abs(value) <= most ? value : null
}
