// The bytes of a component's data, of which the server leaves out what this page was sent before: see
// ui/shell/sent_arrays.py, which is the other half.

import { ask } from "./desk.js"

const MARK = 0xffffffff // no packed payload begins with it: that would be the length of its header
const MOST = 16e6 // bytes that are kept; what is asked for once more only costs time

/** @typedef {{ start: number, stop: number, id: number, here: boolean }} Part */

// Of the whole page, whichever component was sent them first: by ticket and number, the latest used last.
/** @type {Map<string, Uint8Array>} */
const kept = ((/** @type {any} */ (globalThis)).atlasSent ??= new Map())

// The data as the component's Python packed them. What is not here any more is asked for by HTTP.
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
