// What head_map.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  /** What `values` covers, in units, stop exclusive. */
  window: [q0: number, q1: number, k0: number, k1: number]
  total: [queries: number, keys: number]
  /** One per unit in the window, or empty; `col_labels` too. */
  row_labels: string[]
  col_labels: string[]
  scale: "sequential" | "diverging"
  /** The ends of the colour bar; a diverging scale uses the larger magnitude on both sides. */
  low: number
  high: number
  log: boolean
  /** A cell, a row only, or nothing. */
  selected: [query: number, key: number | null] | null
  /** Units in one pixel. */
  pool: [queries: number, keys: number]
  number: "percent" | "plain"
  texts: Texts
  max_height: number
  /** A click, Enter or Escape sends `press` instead of `cell`, so that arrow keys only move the focus. */
  press: boolean
  /** The head, if quick_head may replace it before the page has run. */
  of: [layer: number, head: number] | null
  palette: Palette
  /** Whether values lie beyond the ends. */
  clipped: [below: boolean, above: boolean]
  /** Whether a cell is masked, other than by an indexer's selection. */
  has_masked: boolean
  /** Whether a cell is masked by an indexer's selection. */
  has_left_out: boolean
}

export interface Arrays {
  /** [rows, columns], each pooled from up to `pool` cells; NaN where masked. */
  values: Floats
  /** The whole map in few pixels, for the overview of a zoomed map. */
  overview?: Floats
  /** 1 where a cell is masked because an indexer did not select its key; it is hatched. */
  left_out?: Bytes
}
