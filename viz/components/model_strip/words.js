// Names of layers and heads.

import { fill } from "../shared/words.js"
import { kindOf, rowOf } from "./layout.js"
import { isChanged } from "./drawing.js"
/** @import { Place, State } from "./types" */

/** @type {(state: State, layer: number) => string} */
export const nameOfLayer = ({ meta }, layer) => meta.layer_names[layer] ?? `L${layer}`

// "H4 · kv 2" if heads share a key and value head; otherwise "H4", or the model's own description of the head.
/** @type {(state: State, layer: number, head: number, attention?: string) => string} */
export function nameOfHead({ meta }, layer, head, attention = meta.open[2]) {
  if (layer === meta.open[0] && attention === meta.open[2] && meta.head_names[head]) return meta.head_names[head]
  const row = meta.rows[rowOf(meta.rows, attention)]
  const [count, size] = kindOf(row, layer).attentions[Math.max(0, row.attentions.indexOf(attention))] ?? [0, 1]
  const shared = size > 1 && size < count
  return shared ? `H${head} · kv ${Math.floor(head / size)}` : `H${head}`
}

/** @type {(state: State, place: Place) => string} */
export function nameOf(state, [layer, head, attention]) {
  const { texts, picks, layer_names } = state.meta
  const name = picks === "layers" ? (layer_names[layer] ?? `L${layer}`) : `L${layer}${nameOfHead(state, layer, head, attention)}`
  return isChanged(state, attention, layer, head) ? fill(texts.changed, { name }) : name
}
