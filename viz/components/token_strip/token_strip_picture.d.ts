// What token_strip.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Labels of a chip's tokens if it has several. */
  parts: string[][]
  /** Meaning of the tint, or empty. */
  values: string[]
  /** The query's token position; `looked_at`, the key's. */
  selected: number | null
  looked_at: number | null
  texts: Texts
  /** Start of the second of two texts, on a line of its own; 0 for one text. */
  written: number
  /** What a click on a single text sets. */
  sets: "query" | "key"
  /** Shift-click or Shift-Enter selects the key, sent as "key". */
  both: boolean
  palette: Palette
  /** The text of the bar under each chip; empty without bars. */
  bar_words: string[]
  /** The bars' meaning. */
  bars_said: string
}

export interface Arrays {
  positions: Ints
  counts: Ints
  special: Bytes
  /** 0..1 tints the chip; NaN leaves it plain. */
  metric: Floats
  /**
   * [chips, chips]: weights of each chip's last token on each chip; NaN where masked. With them the chips are
   * tinted by the selected token's row before the page answers, and by a token pointed at in another figure.
   */
  rows?: Floats
  /** [chips]: the bar's length under each, 0..1; NaN for none. */
  bars?: Floats
}
