// What head_bars.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Best first. */
  heads: [layer: number, head: number][]
  /** Heads that are ranked. */
  total: number
  /** Those that are left out have at most this. */
  most_left: number
  selected: [layer: number, head: number]
  /** Of the open head among all, from 1; null where it is not ranked. */
  place: number | null
  /** That of the open head. */
  value: number
  texts: Texts
  /** The key of the part of the page that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
}

export interface Arrays {
  /** [heads], 0..1. */
  values: Floats
}
