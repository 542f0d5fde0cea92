// What head_groups.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"

export interface Meta {
  n_heads: number
  /** The model's own number of key/value heads. */
  own: number
  /** The number after averaging. */
  pooled: number
  layer: number
  head: number
  ways: HeadGrouping[]
  possible: number[]
  texts: Texts
  /** Key of the page element that the open head changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
}

/** A number of key/value heads: its `name` (MHA, GQA, MQA), and the text below it. */
export interface HeadGrouping {
  kv_heads: number
  name: string
  note: string
}
