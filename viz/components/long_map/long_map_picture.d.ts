// What long_map.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Whether attention is causal. */
  causal: boolean
  layer: number
  head: number
  /** The ticket of its requests; if empty, nothing is requested. */
  ticket: string
  pooling: "max" | "mean"
  log: boolean
  /** Smallest distance in tokens of a long-range link. */
  far: number
  /** In tokens, stop exclusive; null: the whole map. */
  window: [q0: number, q1: number, k0: number, k1: number] | null
  /** A cell, a row only, or nothing. */
  selected: [query: number, key: number | null] | null
  texts: Texts
  max_height: number
  /** Start of a logarithmic scale. */
  low: number
  /** What the bands of the map are; shown while the bands are narrow. */
  bands: MapBand[]
  palette: Palette
  /** Number of tokens. */
  tokens: number
}

/** Words that stand along the cells whose query is `distance` tokens after the key, outside of them. */
export interface MapBand {
  distance: number
  words: string
  /** Where there is no room for all. */
  short: string
}
