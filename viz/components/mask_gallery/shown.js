// What is pointed at, painted and grown in the picture, on the pages of users who follow it.

import { chosen } from "../shared/choice.js"
import { pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
/** @import { State } from "./types" */

/** @typedef {{ of: string, selected: string, shown: number, query: number | null, hidden: number[], hovered: [number, number] | null }} Shown */

const sizeOf = ({ meta, n }) => [n, meta.n_layers, meta.names.length].join()

// A hidden cell is one number, its index in row-major order, so that hundreds fit into one message.
/** @param {State} state */
export function tellShown(state) {
  const { n, selected, shown, query, hovered } = state
  const hidden = [...state.hidden].map((cell) => {
    const [row, key] = cell.split(",").map(Number)
    return row * n + key
  })
  pointed(state, { of: sizeOf(state), selected, shown, query, hidden, hovered })
}

// Whether it belongs to this picture, and is now its state.
/** @type {(state: State, shown: Shown) => boolean} */
export function followShown(state, { of, selected, shown, query, hidden, hovered }) {
  const { meta, n } = state
  if (of !== sizeOf(state) || !meta.names.includes(selected)) return false
  const cells = hidden.map((at) => [Math.floor(at / n), at % n])
  const now = { selected, shown: clamp(shown, 1, meta.n_layers), query, hidden: cells }
  for (const [name, value] of Object.entries(now)) chosen(state, name, value)
  Object.assign(state, now, { hidden: new Set(cells.map(String)), hovered, stroke: null })
  return true
}
