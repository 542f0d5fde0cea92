// Restore a component's data. The server leaves out arrays that it has sent to this page before; its half is in
// ui/shell/sent_arrays.py.

import { ask } from "./desk.js"

const MARK = 0xffffffff // no packed payload begins with this: it would be the length of the header
const MOST = 16e6 // bytes in the cache; a miss only costs another request

/** @typedef {{ start: number, stop: number, id: number, here: boolean }} Part */

// A cache shared by all components of the page, keyed by ticket and number, most recently used last.
/** @type {Map<string, Uint8Array>} */
const kept = ((/** @type {any} */ (globalThis)).atlasSent ??= new Map())

// The data as the component's Python packed it. Parts that are no longer cached are requested over HTTP.
/** @type {(data: Uint8Array) => Uint8Array | Promise<Uint8Array>} */
export function whole(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (data.byteLength < 8 || view.getUint32(0, true) !== MARK) return data
  const length = view.getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(8, 8 + length)))
  const found = new Uint8Array(header.size)
  const missing = []
  let [at, from] = [0, 8 + length]
  const take = (/** @type {number} */ until) => {
    const bytes = data.subarray(from, from + until - at)
    found.set(bytes, at)
    from += until - at
    at = until
    return bytes
  }
  for (const part of /** @type {Part[]} */ (header.parts)) {
    take(part.start)
    const name = `${header.ticket} ${part.id}`
    const bytes = part.here ? take(part.stop).slice() : kept.get(name)
    if (bytes) {
      found.set(bytes, part.start)
      keep(name, bytes)
    } else missing.push(part)
    at = part.stop
  }
  take(header.size)
  return missing.length ? fetched(found, header, missing) : found
}

/** @type {(found: Uint8Array, header: { ticket: string, base: string }, missing: Part[]) => Promise<Uint8Array>} */
async function fetched(found, header, missing) {
  const asked = missing.map(async ({ start, id }) => {
    const { bytes } = await ask(header, `array/${id}`)
    if (!bytes) throw new Error("A part of this picture did not come from the server: load the page again.")
    found.set(new Uint8Array(bytes), start)
    keep(`${header.ticket} ${id}`, new Uint8Array(bytes))
  })
  await Promise.all(asked)
  return found
}

/** @type {(name: string, bytes: Uint8Array) => void} */
function keep(name, bytes) {
  kept.delete(name)
  kept.set(name, bytes)
  let size = 0
  for (const one of kept.values()) size += one.byteLength
  for (const [oldest, one] of kept) {
    if (size <= MOST) break
    size -= one.byteLength
    kept.delete(oldest)
  }
}
