// Loads tiles from the server, and decides which to request next. Only a few are requested at a time, since what is
// needed changes while the user moves; tiles that are no longer in view are not waited for.

import { ask } from "../shared/desk.js"
import { paintPixels } from "../shared/pixels.js"
import { nameOf, SIDE } from "./pyramid.js"

const AT_ONCE = 3
export const AGAIN = 1000 // milliseconds to wait after a failed request, or if the server is busy
const MOST = 200 // tiles that are cached, the last used ones: 100 MB

// `changed` is called when a tile has arrived, `refused` when the ticket is no longer valid.
export function openStore(meta, changed, refused) {
  return { meta, changed, refused, held: new Map(), flying: new Map(), missing: new Set(), later: new Set(), wanted: [], closed: false }
}

export function closeStore(store) {
  if (!store) return
  store.closed = true
  for (const flight of store.flying.values()) flight.abort()
}

// A tile that is here, which becomes the last used one.
export function held(store, tile) {
  const name = nameOf(tile)
  const found = store.held.get(name)
  if (!found) return null
  store.held.delete(name)
  store.held.set(name, found)
  return found
}

// These tiles are needed now, the first ones first.
export function want(store, tiles) {
  store.wanted = tiles
  const names = new Set(tiles.map(nameOf))
  for (const [name, flight] of store.flying) if (!names.has(name)) flight.abort()
  next(store)
}

function next(store) {
  for (const tile of store.wanted) {
    if (store.closed || store.flying.size >= AT_ONCE) return
    const name = nameOf(tile)
    if (!store.held.has(name) && !store.flying.has(name) && !store.missing.has(name) && !store.later.has(name)) fly(store, name)
  }
}

async function fly(store, name) {
  const flight = new AbortController()
  store.flying.set(name, flight)
  const data = await ask(store.meta, `tile/${store.meta.layer}/${store.meta.head}/${name}`, flight.signal)
  store.flying.delete(name)
  if (store.closed || flight.signal.aborted) return next(store)
  if (data.refused) {
    store.later.add(name) // with this ticket for good
    return store.refused()
  }
  if (data.bytes) keep(store, name, data.bytes)
  else if (data.none) store.missing.add(name)
  else {
    store.later.add(name)
    setTimeout(() => {
      store.later.delete(name)
      next(store)
    }, AGAIN)
    return
  }
  store.changed()
  next(store)
}

function keep(store, name, bytes) {
  const [all, pixels] = [new Uint16Array(bytes), SIDE * SIDE]
  const part = (start, count) => all.subarray(start, start + count)
  store.held.set(name, {
    max: part(0, pixels), mean: part(pixels, pixels), first: { max: part(2 * pixels, SIDE), mean: part(2 * pixels + SIDE, SIDE) },
    canvas: document.createElement("canvas"), column: document.createElement("canvas"), painted: null,
  })
  for (const oldest of store.held.keys()) {
    if (store.held.size <= MOST) break
    store.held.delete(oldest)
  }
}

// The tile's two pictures in these colours, repainted if the colours have changed.
export function pictures(tile, pooling, words) {
  const wanted = words
  if (tile.painted !== wanted || tile.pooling !== pooling) {
    paintPixels(tile.canvas, SIDE, SIDE, (i) => words[tile[pooling][i]])
    paintPixels(tile.column, 1, SIDE, (i) => words[tile.first[pooling][i]])
    Object.assign(tile, { painted: wanted, pooling })
  }
  return tile
}
