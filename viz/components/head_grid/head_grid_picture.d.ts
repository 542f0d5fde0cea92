// What head_grid.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  mode: "maps" | "metric"
  layer_has_weights: boolean[]
  selected: [layer: number, head: number]
  compare: [layer: number, head: number] | null
  /** Adjacent heads that share a key/value head. */
  groups: number
  texts: Texts
  number: "percent" | "plain"
  max_height: number
  /** Key of the page element that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
  /** Metric of the weakest frame. */
  low: number
  /** Metric of the strongest frame. */
  high: number
}

export interface Arrays {
  /** [layers, heads, n, n], 0..255 = darkest. */
  thumbnails: Bytes
  /** [layers, n, n]: 0 where masked completely. */
  keep: Bytes
  /** [layers, heads], NaN where undefined. */
  metric: Floats
  /** Heads as layer × heads + head, best first; may be incomplete. Without it rows are layers. */
  order?: Ints
  /** [layers, n, n]: 1 where a cell is masked because an indexer did not select its keys. */
  left_out?: Bytes
}
