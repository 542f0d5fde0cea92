// What long_map.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** No query sees a key after it. */
  causal: boolean
  layer: number
  head: number
  /** What the server answers for; empty: nothing is asked. */
  ticket: string
  pooling: "max" | "mean"
  log: boolean
  /** Tokens that a look must go back to be called far. */
  far: number
  /** In tokens, ends excluded; null: the whole map. */
  window: [q0: number, q1: number, k0: number, k1: number] | null
  /** A cell, a row alone, or nothing. */
  selected: [query: number, key: number | null] | null
  texts: Texts
  max_height: number
  /** Where a logarithmic scale begins. */
  low: number
  /** What the bands of the map are; shown while the bands are narrow. */
  bands: MapBand[]
  palette: Palette
  /** How many there are. */
  tokens: number
}

/** Words that stand along the cells whose query is `distance` tokens after the key, outside of them. */
export interface MapBand {
  distance: number
  words: string
  /** Where there is no room for all. */
  short: string
}
