// What flash_film.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Number of the first token in the text. */
  first: number
  /** Dimension of a key. */
  d_head: number
  /** Bytes per number. */
  size: number
  rows: number
  columns: number
  /** What the outer loop iterates over. */
  order: "keys" | "queries"
  /** Numbers that fit in fast memory. */
  sram: number
  /** A learned sink's logit. */
  sink: number | null
  /** The query whose sums are shown. */
  row: number
  frame: number
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [queries, keys] before the softmax; −∞ where masked. */
  scores: Floats
  /** [keys, d_value] */
  v: Floats
}
