// What token_lines.py packs.

import type { Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  queries: string[]
  keys: string[]
  query_offset: number
  key_offset: number
  head_labels: string[]
  selected: number | null
  looked_at: number | null
  threshold: number
  cut: boolean
  max_rows: number
  max_height: number
  texts: Texts
  palette: Palette
}

export type Row = { side: "query" | "key"; row: number }

export interface Arrays {
  /** [heads, queries, keys], NaN where masked */
  weights: Floats
}

export interface State extends Life {
  meta: Meta
  at: any
  scroller: any
  weights: Floats
  pinned: number | null
  lookedAt: number | null
  hover: Row | null
  held: Row | null
  /** Rows that are pointed at in other figures. */
  lit: { query: number | null; key: number | null }
}
