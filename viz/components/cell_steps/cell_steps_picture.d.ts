// What cell_steps.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  /** Heads that read the same key and value. */
  shared: string[]
  query: [label: string, position: number]
  /** A position among those of `keys`. */
  key: number
  /** All keys, drawn or not. */
  total: number
  /** Those the query may look at. */
  n_visible: number
  window: number | null
  rotated: boolean
  scale: number
  /** d where the scale is 1 ÷ √d. */
  root: number | null
  softcap: number | null
  lse: number | null
  sink: number | null
  /** The weight of visible keys that are not drawn. */
  rest: number
  /** How far `mixed` is from the model's own output. */
  difference: number
  /** Or why there is none. */
  push: LogitPush | string
  texts: Texts
  /** What the model predicts at the query's place, the likeliest first; none where it predicts no token. */
  next: [token: string, probability: number][]
  /** The open step, counted from 1; 0 for none. */
  step: number
  palette: Palette
  /** Of the keys that are drawn. */
  labels: string[]
}

export interface Arrays {
  q: Floats
  /** Σ weight · v over all keys. */
  mixed: Floats
  /** Given where edits changed the output on its way to W_O. */
  passed_on?: Floats
  /** [keys] */
  positions: Ints
  /** [keys, d] */
  k: Floats
  /** [keys, d_value] */
  v: Floats
  /** [keys]: q · k */
  dots: Floats
  /** [keys], NaN where masked. */
  scores: Floats
  /** [keys] */
  weights: Floats
  /** [keys]: added to the scores, where the model does. */
  biases?: Floats
}

/** What a head's output adds to the logits: the seventh step. */
export interface LogitPush {
  promoted: [token: string, logit: number][]
  suppressed: [token: string, logit: number][]
  mean: number
  /** The predicted token: what is added to its logit, and its whole logit. */
  predicted: [token: string, added: number, logit: number]
}
