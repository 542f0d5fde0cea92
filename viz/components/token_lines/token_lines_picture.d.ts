// What token_lines.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  queries: string[]
  keys: string[]
  /** Position of the column's first label; `key_offset` too. */
  query_offset: number
  key_offset: number
  head_labels: string[]
  /** Position of the pinned query. */
  selected: number | null
  texts: Texts
  /** Position of the pinned key. */
  looked_at: number | null
  max_height: number
  threshold: number
  max_rows: number
  /** Rows were left out. */
  cut: boolean
  palette: Palette
}

export interface Arrays {
  /** [heads, queries, keys], NaN where masked. */
  weights: Floats
}
