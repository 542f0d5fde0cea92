// What head_groups.py packs.

import type { Life, Palette, Texts } from "../shared/types"

export interface Meta {
  n_heads: number
  /** Key/value heads of the model itself. */
  own: number
  /** What they are averaged to. */
  pooled: number
  layer: number
  head: number
  ways: { kv_heads: number; name: string; note: string }[]
  possible: number[]
  /** The key of the part of the page that a choice changes, or "". */
  shows: string
  texts: Texts
  palette: Palette
}

export interface State extends Life {
  meta: Meta
  head: number
  pooled: number
  hovered: number | null
}
