// What score_sweep.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  layer: number
  head: number
  /** Each head's attention on the previous token, in words, or empty. */
  facts: string[]
  /** Whose contents were used. */
  notes: string[]
  texts: Texts
  /** Adjacent heads that share a key/value head. */
  group: number
  palette: Palette
}

export interface Arrays {
  distances: Ints
  /** [heads, distances], NaN where a head has none. */
  scores: Floats
}
