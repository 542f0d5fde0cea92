// Sentences about the chosen key and about one pair.

import { fill, isolate, tidy } from "../shared/words.js"
import { threeDigits } from "./axis.js"
/** @import { SplitState } from "./types" */

export const shownColumn = (state) => state.hovered ?? state.column

export const total = (state, column) => state.values.reduce((sum, row) => sum + row[column], 0)

/** @param {SplitState} state */
export function cellWords(state) {
  const { meta, arrays, values } = state
  const column = shownColumn(state)
  const whole = total(state, column)
  const largest = values.reduce((best, row, i) => (Math.abs(row[column]) > Math.abs(values[best][column]) ? i : best), 0)
  const facts = {
    head: meta.head, query: isolate(meta.query[0]), query_index: meta.query[1], key: isolate(meta.labels[column]), key_index: state.positions[column],
    score: scoreWords(whole), part: scoreWords(values[largest][column]), pair: nameOf(state, largest),
  }
  const parts = [fill(meta.texts.cell, facts)]
  if (meta.softcap !== null) parts.push(fill(meta.texts.softcap, { score: scoreWords(meta.softcap * Math.tanh(whole / meta.softcap)) }))
  if (!arrays.keep[column]) parts.push(meta.texts.masked)
  return parts.join(" ")
}

/** @param {SplitState} state */
export function pairWords(state) {
  const { meta, values } = state
  const pair = state.pair ?? 0
  const column = shownColumn(state)
  const facts = { pair: nameOf(state, pair), key: isolate(meta.labels[column]), key_index: state.positions[column], part: scoreWords(values[pair][column]), score: scoreWords(total(state, column)) }
  return fill(meta.texts.part, facts)
}

export const scoreWords = (score) => (score >= 0 ? "+" : "") + tidy(score.toFixed(2))

/** @param {SplitState} state */
function nameOf({ meta, waves }, i) {
  if (i >= waves.length) return fill(meta.texts.rest, { count: meta.n_rest })
  return fill(meta.texts.pair, { i, wavelength: Number.isFinite(waves[i]) ? threeDigits(waves[i]) : "∞" })
}
