// What token_strip.py packs.

import type { Bytes, Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Labels of a chip's tokens where there are several. */
  parts: string[][]
  values: string[]
  /** What the bar under each chip says; none without bars. */
  bar_words: string[]
  bars_said: string
  selected: number | null
  looked_at: number | null
  /** Where the second of two texts begins; 0 for one. */
  written: number
  /** What a click on a single text sets. */
  sets: "query" | "key"
  /** With Shift a click sets the key, where it would set the query. */
  both: boolean
  texts: Texts
  palette: Palette
}

export interface Arrays {
  positions: Ints
  counts: Ints
  special: Bytes
  metric: Floats
  /** What the last token of each chip gives to each chip; NaN where masked. */
  rows?: Floats
  /** The length of the bar under each chip, 0..1; NaN for none. */
  bars?: Floats
}

export interface State extends Life {
  meta: Meta
  box: any
  /** What the colours say. */
  note: HTMLElement
  /** The chip under the pointer, which is no token position. */
  hovered: number | null
  /** The chip whose row is pointed at in another figure. */
  row: number | null
  arrays: Arrays
  selected: number | null
  lookedAt: number | null
}
