// Numbers written so that what a step shows adds up: one count of decimals for all parts of a sum.

// Decimals that give a number of this size about four significant digits.
function decimalsFor(size) {
  if (!(size > 0)) return 2
  return clamp(3 - Math.floor(Math.log10(size)), 1, 6)
}

const fixed = (value, decimals) => {
  const digits = value.toFixed(decimals)
  return (Number(digits) === 0 ? digits.replace("-", "") : digits).replace("-", "−")
}

const signed = (value, decimals) => (Number(value.toFixed(decimals)) >= 0 ? "+" : "") + fixed(value, decimals)

// In a product or a sum a negative number stands in brackets.
const inner = (value, decimals) => (value < 0 ? `(${fixed(value, decimals)})` : fixed(value, decimals))

const rounded = (value, decimals) => Number(value.toFixed(decimals))

// " + 1.20 − 0.31 + …": the terms of a sum after the first.
const addend = (value, decimals) => (value < 0 ? ` − ${fixed(-value, decimals)}` : ` + ${fixed(value, decimals)}`)

const subscript = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit] ?? digit).join("")

const percent = (value, texts) => {
  const digits = value >= 0.9995 ? 1 : value >= 0.0995 ? 1 : value >= 0.001 ? 2 : value === 0 ? 0 : 4
  return fill(texts.percent ?? "{number} %", { number: (value * 100).toFixed(digits) })
}

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

const norm = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))

// The row of a matrix, as a view.
const rowOf = (matrix, row) => matrix.subarray(row * matrix.shape[1], (row + 1) * matrix.shape[1])

// Everything the picture says of the chosen key, derived from the packed arrays.
function readCell({ meta, arrays, key }) {
  const at = arrays.positions.indexOf(key)
  const [k, v] = [rowOf(arrays.k, at), rowOf(arrays.v, at)]
  const dot = arrays.dots[at]
  const scaled = dot * meta.scale
  const capped = meta.softcap === null ? scaled : meta.softcap * Math.tanh(scaled / meta.softcap)
  const score = arrays.scores[at]
  return {
    at, k, v, dot, scaled, capped, score,
    visible: !Number.isNaN(score),
    weight: arrays.weights[at],
    product: arrays.q.map((value, i) => value * k[i]),
    token: isolate(meta.labels[at]),
    query: isolate(meta.query[0]),
  }
}
