// What head_map.py packs.

import type { Bytes, Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Layer and head, where another one may come before the page has run. */
  of: [layer: number, head: number] | null
  /** [first query, one past the last, first key, one past the last] of the tile, in units. */
  window: [number, number, number, number]
  total: [queries: number, keys: number]
  row_labels: string[]
  col_labels: string[]
  scale: "sequential" | "diverging"
  low: number
  high: number
  log: boolean
  clipped: [below: boolean, above: boolean]
  has_masked: boolean
  has_left_out: boolean
  /** A cell, a row alone, or nothing. */
  selected: [query: number, key: number | null] | null
  /** Units in one pixel. */
  pool: [queries: number, keys: number]
  number: string
  max_height: number
  /** A click is told apart from the keyboard's moves. */
  press: boolean
  texts: Texts
  palette: Palette
}

export interface Arrays {
  values: Floats
  overview?: Floats
  /** 1 where an indexer did not choose the key of a masked cell. */
  left_out?: Bytes
}

export interface State extends Life {
  meta: Meta
  layout: any
  view: any
  zoom: any
  values: Floats
  overview: Floats | null
  left_out: Bytes | null
  selected: Meta["selected"]
  hovered: [query: number, key: number] | null
  /** What is pointed at in other figures. */
  lit: [query: number | null, key: number | null]
}
