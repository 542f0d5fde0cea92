// Text about a row and about a cell, and what the colours mean.

import { hatchImage } from "../shared/hatch.js"
import { css } from "../shared/theme.js"
import { fill, isolate } from "../shared/words.js"
import { isFuture, isHidden } from "./layout.js"
import { colorsOf } from "./paint.js"
/** @import { State } from "./types" */

/** @param {State} state */
const nameOf = ({ meta }, place) => isolate(`${meta.tokens[place]} (${place})`)

// How many keys have reached a query after so many layers.
function heard(state, query, layers) {
  const { reached, n } = state
  let count = 0
  for (let key = 0; key < n; key++) {
    const layer = reached[query * n + key]
    if (layer && layer <= layers && !(layer === 1 && isHidden(state, query, key))) count++
  }
  return count
}

/** @param {State} state */
export function rowWords(state) {
  const { meta, n, query, shown, reached, region } = state
  if (query === null || query >= n) return ""
  const { texts } = meta
  if (region && state.distance) {
    const farthest = Math.max(...state.distance.subarray(query * n, query * n + query + 1))
    return fill(texts.index, { query: nameOf(state, query), distance: farthest })
  }
  const facts = {
    query: nameOf(state, query), seen: heard(state, query, 1), possible: meta.causal ? Math.max(query + 1, heard(state, query, 1)) : n,
    layers: shown, heard: heard(state, query, shown),
  }
  const first = reached[query * n]
  const parts = [fill(shown === 1 ? texts.row_one : texts.row, facts)]
  const way = first === 1 ? texts.first_seen : first ? texts.first : texts.first_never
  if (query > 0) parts.push(fill(way, { layer: first, layers: meta.n_layers }))
  return parts.join(" ")
}

/** @param {State} state */
export function cellWords(state, [query, key]) {
  const { meta, n, reached, given, region, distance } = state
  const { texts } = meta
  const at = query * n + key
  const facts = { query: nameOf(state, query), key: nameOf(state, key) }
  if (region && distance) {
    if (isFuture(state, query, key)) return fill(texts.future, facts)
    const where = texts[["intra", "successive", "inter"][region[at]]]
    return fill(texts.apart, { ...facts, distance: distance[at], true: query - key, region: where })
  }
  if (isHidden(state, query, key)) return fill(texts.by_hand, facts)
  if (query === key && given.has(query)) return fill(texts.given, facts)
  if (reached[at] === 1) return fill(texts.sees, facts)
  if (isFuture(state, query, key) && !reached[at]) return fill(texts.future, facts)
  if (reached[at]) return fill(texts.hears, { ...facts, layers: reached[at] })
  return fill(texts.never, { ...facts, layers: meta.n_layers })
}

// The background of a cell, and its description.
/** @type {(state: State) => [look: string, words: string, crossed?: boolean][]} */
export function legendOf(state) {
  const { meta, region, shown, hidden, theme, n } = state
  const { texts } = meta
  const colors = colorsOf(state)
  if (region) return ["intra", "successive", "inter"].map((name, i) => [css(colors.region(i)), texts[name]])
  /** @type {[look: string, words: string, crossed?: boolean][]} */
  const parts = [[css(colors.layer(1)), texts.kept]]
  if (shown > 1) parts.push([css(colors.layer(shown)), texts.heard])
  parts.push([hatchImage(theme), texts.hidden])
  if (n > 1 && meta.causal) parts.push([css(colors.paper), texts.ahead])
  if (hidden.size) parts.push([css(theme.compare), texts.painted, true])
  return parts
}
