// Unpack the bytes that packing.py writes.

// Packed bytes -> {meta, arrays: {name: typed array with .shape}}. See packing.py.
/** @type {(data: Uint8Array) => { meta: any, arrays: Record<string, any> }} */
export function unpack(data) {
  const bytes = data.slice() // copied because the received view may not start at a multiple of four
  const view = new DataView(bytes.buffer)
  const length = view.getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  const start = (4 + length + 3) & ~3
  const types = { float32: Float32Array, uint8: Uint8Array, int32: Int32Array }
  const arrays = /** @type {Record<string, any>} */ ({})
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const count = shape.reduce((product, n) => product * n, 1)
    arrays[name] = new types[dtype](bytes.buffer, start + offset, count)
    arrays[name].shape = shape
  }
  return { meta: header.meta, arrays }
}
