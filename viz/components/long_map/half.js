// float16, as the server sends weights: two bytes, read as the index of a table of all 65,536 of them.

const ALL = 65536

/** @type {Float32Array | null} */
let table = null

// The value of every bit pattern; NaN stays NaN.
/** @type {() => Float32Array} */
export function halves() {
  if (table) return table
  table = new Float32Array(ALL)
  for (let bits = 0; bits < ALL; bits++) table[bits] = valueOf(bits)
  return table
}

/** @type {(bits: number) => number} */
function valueOf(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024)
}

// A colour for every bit pattern, as a word of ImageData: painting a tile then takes one look-up per pixel.
/** @type {(colors: Uint32Array, masked: number, place: (value: number) => number) => Uint32Array} */
export function colorTable(colors, masked, place) {
  const values = halves()
  const words = new Uint32Array(ALL)
  for (let bits = 0; bits < ALL; bits++) {
    const value = values[bits]
    words[bits] = value !== value ? masked : colors[Math.round(place(value) * (colors.length - 1))] // NaN is not itself
  }
  return words
}
