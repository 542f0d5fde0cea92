// What score_sweep.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  layer: number
  head: number
  /** Each head's attention on the token before, in words, or nothing at all. */
  facts: string[]
  /** Whose contents were swept. */
  notes: string[]
  texts: Texts
  /** Neighbouring heads that share one key and value head. */
  group: number
  palette: Palette
}

export interface Arrays {
  distances: Ints
  /** [heads, distances], NaN where a head has none. */
  scores: Floats
}
