// What long_map.py packs.

import type { Life, Palette, Texts } from "../shared/types"

export interface Meta {
  tokens: number
  labels: string[]
  /** No query sees a key after it. */
  causal: boolean
  layer: number
  head: number
  /** What the server answers for; empty: nothing is asked. */
  ticket: string
  pooling: "max" | "mean"
  log: boolean
  /** Where a logarithmic scale begins. */
  low: number
  /** Tokens that a look must go back to be called far. */
  far: number
  /** [first query, one past the last, first key, one past the last], or the whole map. */
  window: [number, number, number, number] | null
  /** A cell, a row alone, or nothing. */
  selected: [query: number, key: number | null] | null
  max_height: number
  texts: Texts
  palette: Palette
}

export interface State extends Life {
  meta: Meta
  view: any
  store: any
  parts: any
  selected: Meta["selected"]
  hovered: [query: number, key: number] | null
  found: number[]
}
