// The visible part of the map: {q0, q1, k0, k1} in units (tokens or words), fractional during a gesture.
// Pure functions; nothing here draws.

import { clamp } from "../shared/numbers.js"

export const CLOSEST = 6 // units at the highest zoom

export const wholeView = ([queries, keys]) => ({ q0: 0, q1: queries, k0: 0, k1: keys })
export const viewOf = ([q0, q1, k0, k1]) => ({ q0, q1, k0, k1 })
export const isWhole = (view, [queries, keys]) => view.q1 - view.q0 >= queries - 1e-6 && view.k1 - view.k0 >= keys - 1e-6

// Zoom by `factor` (below 1: closer) keeping the point (query, key) where it is on the screen.
export function zoomed(view, total, factor, query, key) {
  const [q0, q1] = zoomedAxis(view.q0, view.q1, total[0], factor, query)
  const [k0, k1] = zoomedAxis(view.k0, view.k1, total[1], factor, key)
  return { q0, q1, k0, k1 }
}

function zoomedAxis(start, end, count, factor, anchor) {
  const span = clamp((end - start) * factor, Math.min(CLOSEST, count), count)
  const first = clamp(anchor - ((anchor - start) / (end - start)) * span, 0, count - span)
  return [first, first + span]
}

export function panned(view, total, byQueries, byKeys) {
  const q0 = clamp(view.q0 + byQueries, 0, total[0] - (view.q1 - view.q0))
  const k0 = clamp(view.k0 + byKeys, 0, total[1] - (view.k1 - view.k0))
  return { q0, q1: q0 + view.q1 - view.q0, k0, k1: k0 + view.k1 - view.k0 }
}

// The nearest view that shows this cell with one unit of margin.
export function viewWith(view, total, query, key) {
  const push = (start, end, at) => (at === null ? 0 : Math.min(0, at - 1 - start) + Math.max(0, at + 2 - end))
  return panned(view, total, push(view.q0, view.q1, query), push(view.k0, view.k1, key))
}

// The view in whole units, to request from the host: [q0, q1, k0, k1]. A square view stays square.
/** @returns {[number, number, number, number]} */
export function windowOf(view, total) {
  const axis = (start, end, count) => {
    const span = Math.round(end - start)
    const first = clamp(Math.round(start), 0, count - span)
    return [first, first + span]
  }
  const [q0, q1] = axis(view.q0, view.q1, total[0])
  const [k0, k1] = axis(view.k0, view.k1, total[1])
  return [q0, q1, k0, k1]
}
