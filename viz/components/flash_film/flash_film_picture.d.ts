// What flash_film.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** The number of the first token in the text. */
  first: number
  /** Numbers in a key. */
  d_head: number
  /** Bytes in a number. */
  size: number
  rows: number
  columns: number
  /** What the outer loop goes over. */
  order: "keys" | "queries"
  /** Numbers that the fast memory has room for. */
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
