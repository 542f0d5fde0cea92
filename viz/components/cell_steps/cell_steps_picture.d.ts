// What cell_steps.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  /** Heads that share the same key and value. */
  shared: string[]
  query: [label: string, position: number]
  /** One of the positions in `keys`. */
  key: number
  /** Number of keys, drawn or not. */
  total: number
  /** Number of keys that the query may attend to. */
  n_visible: number
  window: number | null
  rotated: boolean
  scale: number
  /** d if the scale is 1 ÷ √d. */
  root: number | null
  softcap: number | null
  lse: number | null
  sink: number | null
  /** Total weight of visible keys that are not drawn. */
  rest: number
  /** Distance of `mixed` from the model's own output. */
  difference: number
  /** Or why there is none. */
  push: LogitPush | string
  texts: Texts
  /** Predictions at the query's position, the likeliest first; empty if it predicts no token. */
  next: [token: string, probability: number][]
  /** The open step, counted from 1; 0 for none. */
  step: number
  palette: Palette
  /** Labels of the keys that are drawn. */
  labels: string[]
}

export interface Arrays {
  q: Floats
  /** Σ weight · v over all keys. */
  mixed: Floats
  /** Set if edits changed the output on its way to W_O. */
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
  /** [keys]: added to the scores, if the model does that. */
  biases?: Floats
}

/** What a head's output adds to the logits: the seventh step. */
export interface LogitPush {
  promoted: [token: string, logit: number][]
  suppressed: [token: string, logit: number][]
  mean: number
  /** The predicted token: the addition to its logit, and its whole logit. */
  predicted: [token: string, added: number, logit: number]
}
