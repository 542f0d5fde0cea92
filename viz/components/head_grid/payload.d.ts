// What head_grid.py packs.

import type { Bytes, Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  mode: "maps" | "metric"
  layer_has_weights: boolean[]
  selected: Head
  compare: Head | null
  /** Neighbouring heads that share one key and value head. */
  groups: number
  low: number
  high: number
  number: string
  max_height: number
  /** The key of the part of the page that a choice changes, or "". */
  shows: string
  texts: Texts
  palette: Palette
}

export type Head = [layer: number, head: number]

export interface Arrays {
  /** [layers, heads, n, n], 0..255 */
  thumbnails: Bytes
  /** [layers, n, n] */
  keep: Bytes
  /** [layers, n, n]: not seen since an indexer did not choose the keys. */
  left_out?: Bytes
  /** [layers, heads] */
  metric: Floats
  /** Heads as layer × heads + head, best first. */
  order?: Ints
}

export interface State extends Life {
  meta: Meta
  thumbnails: Bytes
  keep: Bytes
  left_out: Bytes | null
  metric: Floats
  order: Ints | null
  selected: Head
  compared: Head | null
  hovered: Head | null
  /** What other figures point at: a head, and a cell as shares of the map: from the top, from the left, its side. */
  lit: Head | null
  mark: [down: number, right: number, side: number] | null
}
