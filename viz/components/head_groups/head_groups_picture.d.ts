// What head_groups.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"

export interface Meta {
  n_heads: number
  /** Key/value heads of the model itself. */
  own: number
  /** What they are averaged to. */
  pooled: number
  layer: number
  head: number
  ways: HeadGrouping[]
  possible: number[]
  texts: Texts
  /** The key of the part of the page that the open head changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
}

/** One number of key/value heads: its `name` (MHA, GQA, MQA), and what is written under it. */
export interface HeadGrouping {
  kv_heads: number
  name: string
  note: string
}
