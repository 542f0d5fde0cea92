// A softmax in a lower-precision dtype as torch computes it: each result is rounded, and sums accumulate in float32.

const bits = new Uint32Array(1)
const single = new Float32Array(bits.buffer)
const [HALF_LEAST, HALF_DIGITS, HALF_MOST] = [-14, 10, 65504] // float16: exponent of its smallest normal number, fraction bits, largest number

// Round to the nearest number of this dtype.
/** @type {(value: number, dtype: string) => number} */
export function rounded(value, dtype) {
  if (dtype === "float16") return half(value)
  return dtype === "bfloat16" ? brain(value) : Math.fround(value)
}

/** @type {(value: number) => number} */
function half(value) {
  if (value === 0 || !Number.isFinite(value)) return value
  const unit = 2 ** (Math.max(HALF_LEAST, Math.floor(Math.log2(Math.abs(value)))) - HALF_DIGITS)
  const near = even(value / unit) * unit
  return Math.abs(near) > HALF_MOST ? Math.sign(near) * Infinity : near
}

// Round to bfloat16, the upper half of a float32.
/** @type {(value: number) => number} */
function brain(value) {
  single[0] = value
  if (!Number.isFinite(single[0])) return single[0]
  bits[0] = (bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) & 0xffff0000
  return single[0]
}

/** @type {(value: number) => number} */
function even(value) {
  const below = Math.floor(value)
  if (value - below !== 0.5) return Math.round(value)
  return below % 2 === 0 ? below : below + 1
}

/** @type {(values: number[], dtype: string) => number} */
const sum = (values, dtype) => rounded(values.reduce((all, one) => Math.fround(all + one), 0), dtype)

// exp of each score, and its share of the sum.
/** @type {(scores: number[], dtype: string) => { powers: number[], shares: number[], total: number }} */
export function naive(scores, dtype) {
  const powers = scores.map((score) => rounded(Math.fround(Math.exp(score)), dtype))
  const total = sum(powers, dtype)
  return { powers, shares: powers.map((one) => rounded(Math.fround(one / total), dtype)), total }
}

// The same after subtracting the maximum, and the logarithms of the shares.
/** @type {(scores: number[], dtype: string) => { powers: number[], shares: number[], logs: number[] }} */
export function safe(scores, dtype) {
  const most = Math.max(...scores)
  const below = scores.map((score) => rounded(Math.fround(score - most), dtype))
  const { powers, shares, total } = naive(below, dtype)
  const log = rounded(Math.fround(Math.log(total)), dtype)
  return { powers, shares, logs: below.map((one) => rounded(Math.fround(one - log), dtype)) }
}
