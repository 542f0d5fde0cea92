// What cell_steps.py packs.

import type { Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  /** Heads that read the same key and value. */
  shared: string[]
  query: [label: string, position: number]
  key: number
  labels: string[]
  total: number
  n_visible: number
  window: number | null
  rotated: boolean
  scale: number
  /** d where the scale is 1 ÷ √d. */
  root: number | null
  softcap: number | null
  lse: number | null
  sink: number | null
  rest: number
  difference: number
  /** The open step, counted from 1; 0 for none. */
  step: number
  /** Or why there is none. */
  push: Push | string
  /** What the model predicts at the query's place, the likeliest first; none where it predicts no token. */
  next: [token: string, probability: number][]
  texts: Texts
  palette: Palette
}

type Added = [token: string, logit: number]
export interface Push {
  promoted: Added[]
  suppressed: Added[]
  mean: number
  predicted: [token: string, added: number, logit: number]
}

export interface Arrays {
  positions: Ints
  k: Floats
  v: Floats
  dots: Floats
  /** NaN where masked */
  scores: Floats
  weights: Floats
  /** Added to the scores, where the model does. */
  biases?: Floats
  q: Floats
  mixed: Floats
  passed_on?: Floats
}

export interface State extends Life {
  meta: Meta
  arrays: Arrays
  key: number
  query: number
  /** Whether it goes from step to step by itself. */
  walking: boolean
}

/** What of it is pointed at and opened, see shared/follow.js. */
export interface At {
  of: string
  key: number
  open: number
  /** Of q and k, and of the values; null: none. */
  dimension: number | null
  valueDimension: number | null
}
