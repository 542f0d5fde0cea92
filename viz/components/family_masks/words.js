// Text for a cell and for a whole grid.

import { fill, isolate } from "../shared/words.js"
/** @import { State } from "./types" */

const SAYS = ["hidden", "sees", "ahead", "across"] // by kind of cell

/** @param {State} state */
export function cellWords({ meta, cells }, { kind, query, key }) {
  const side = cells.shape[1]
  const { tokens } = meta.kinds[kind]
  const named = (token) => `${isolate(tokens[token])} (${token})`
  return fill(meta.texts[SAYS[cells[(kind * side + query) * side + key]]], { query: named(query), key: named(key) })
}

/** @param {State} state */
export function countWords({ meta, cells }, i) {
  const side = cells.shape[1]
  const { title, tokens } = meta.kinds[i]
  const own = cells.subarray(i * side * side, (i + 1) * side * side)
  return fill(meta.texts.counts, { title, seen: own.reduce((seen, cell) => seen + Number(cell > 0), 0), cells: tokens.length ** 2 })
}

// The text while no cell is pointed at: how many cells the open kind sees, and of how much of the text.
/** @param {State} state */
export function restWords(state) {
  const { meta, selected } = state
  const at = meta.kinds.findIndex((kind) => kind.name === selected)
  const { cut } = meta.kinds[at]
  return [meta.texts.rows, countWords(state, at), cut ? fill(meta.texts.cut, { count: cut }) : ""].filter(Boolean).join(" ")
}
