// Groups, counted and described. Heads count from 0; the heads of a group are neighbours.

import { fill } from "../shared/words.js"
/** @import { State } from "./types" */

export const sizeOf = (meta, kvHeads) => meta.n_heads / kvHeads
export const groupOf = (meta, kvHeads, head) => Math.floor(head / sizeOf(meta, kvHeads))

// "H4–H5", or "H4" where it is alone.
const span = (first, count, letter = "") => (count === 1 ? `${letter}${first}` : `${letter}${first}–${letter}${first + count - 1}`)

/** @param {State} state */
export function titleOf({ meta, pooled }, isPooled) {
  const { texts } = meta
  return isPooled ? fill(texts.pooled, { kv_heads: pooled }) : texts.own
}

/** @param {State} state */
export function countsOf({ meta }, kvHeads) {
  return fill(meta.texts.counts, { heads: meta.n_heads, kv_heads: kvHeads })
}

// What the group of a query head reads when so many key/value heads are left.
/** @param {State} state */
export function readsOf({ meta }, kvHeads, head) {
  const { texts, own } = meta
  const [size, group] = [sizeOf(meta, kvHeads), groupOf(meta, kvHeads, head)]
  const averaged = own / kvHeads
  const template = averaged > 1 ? texts.reads_mean : size > 1 ? texts.reads_shared : texts.reads_alone
  return fill(template, { group: span(group * size, size, "H"), kv: span(group * averaged, averaged) })
}

/** @param {State} state */
export function summaryOf(state, kvHeads, isPooled) {
  const parts = { title: titleOf(state, isPooled), counts: countsOf(state, kvHeads), reads: readsOf(state, kvHeads, state.head) }
  return fill(state.meta.texts.summary, { ...parts, head: `L${state.meta.layer}H${state.head}` })
}
