// What head_map.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  /** What `values` cover, in units, ends excluded. */
  window: [q0: number, q1: number, k0: number, k1: number]
  total: [queries: number, keys: number]
  /** One a unit in the window, or none; `col_labels` too. */
  row_labels: string[]
  col_labels: string[]
  scale: "sequential" | "diverging"
  /** The ends of the colour bar; on a diverging scale the larger size counts for both signs. */
  low: number
  high: number
  log: boolean
  /** A cell, a row alone, or nothing. */
  selected: [query: number, key: number | null] | null
  /** Units in one pixel. */
  pool: [queries: number, keys: number]
  number: "percent" | "plain"
  texts: Texts
  max_height: number
  /** A click, Enter or Escape sends `press` in the place of `cell`, so that arrow keys only look around. */
  press: boolean
  /** The head, where quick_head may give another one before the page has run. */
  of: [layer: number, head: number] | null
  palette: Palette
  /** Whether values lie beyond the ends. */
  clipped: [below: boolean, above: boolean]
  /** Whether a cell is masked, other than by an indexer's choice. */
  has_masked: boolean
  /** Whether one is masked by an indexer's choice. */
  has_left_out: boolean
}

export interface Arrays {
  /** [rows, columns], each standing for up to `pool` cells; NaN where masked. */
  values: Floats
  /** The whole map in few pixels, for the inset of a zoomed view. */
  overview?: Floats
  /** 1 where a cell is masked since an indexer did not choose its key; it is striped. */
  left_out?: Bytes
}
