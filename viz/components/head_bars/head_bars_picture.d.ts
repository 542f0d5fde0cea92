// What head_bars.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Best first. */
  heads: [layer: number, head: number][]
  /** Number of ranked heads. */
  total: number
  /** Upper bound of the heads that are not listed. */
  most_left: number
  selected: [layer: number, head: number]
  /** Rank of the open head among all, from 1; null if it is not ranked. */
  place: number | null
  /** Value of the open head. */
  value: number
  texts: Texts
  /** Key of the page element that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
}

export interface Arrays {
  /** [heads], 0..1. */
  values: Floats
}
