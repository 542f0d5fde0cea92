// Numbers as a class writes them: few digits, no zeros at the end, a true minus sign, brackets where a sign is in the way.

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

// As there is room for in a cell: about three digits, and what is nearly 0 as that.
/** @type {(value: number) => string} */
export function inCell(value) {
  const size = Math.abs(value)
  if (size > 0 && size < 0.005) return "≈0"
  return written(value, decimalsInCell(value))
}

// The digits after its point there; of 1.2·10⁵ all but two before it are left out.
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

// "=" where the numbers as they are written give the result as it is written, "≈" where digits were left out.
/** @type {(values: number[], decimals?: number) => string} */
export const equals = (values, decimals = 3) =>
  values.every((value) => Math.abs(value - Number(value.toFixed(decimals))) < 1e-9 * Math.max(1, Math.abs(value))) ? "=" : "≈"

// A typed number, in digits of a Chinese keyboard too: what it is, or null where it is none, or none that may stand here.
/** @type {(text: string, most: number) => number | null} */
export function typed(text, most) {
  const plain = text.normalize("NFKC").trim().replace("−", "-").replace(/^([+-]?\d*),(\d+)$/, "$1.$2")
  const value = plain === "" || plain.length > 24 ? Number.NaN : Number(plain)
  return Number.isFinite(value) && Math.abs(value) <= most ? value : null
}
