// What head_grid.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  mode: "maps" | "metric"
  layer_has_weights: boolean[]
  selected: [layer: number, head: number]
  compare: [layer: number, head: number] | null
  /** Neighbouring heads that share one key and value head. */
  groups: number
  texts: Texts
  number: "percent" | "plain"
  max_height: number
  /** The key of the part of the page that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
  /** The metric of the weakest frame. */
  low: number
  /** That of the strongest. */
  high: number
}

export interface Arrays {
  /** [layers, heads, n, n], 0..255 = darkest. */
  thumbnails: Bytes
  /** [layers, n, n]: 0 where all is masked. */
  keep: Bytes
  /** [layers, heads], NaN where it is not defined. */
  metric: Floats
  /** Heads as layer × heads + head, best first; some may be left out. Without it rows are by layer. */
  order?: Ints
  /** [layers, n, n]: 1 where it is masked since an indexer did not choose the keys. */
  left_out?: Bytes
}
