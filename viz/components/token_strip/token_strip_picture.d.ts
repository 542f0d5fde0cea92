// What token_strip.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Labels of a chip's tokens where there are several. */
  parts: string[][]
  /** What the tint means, in words, or empty. */
  values: string[]
  /** The query, a token's position; `looked_at`, the key, too. */
  selected: number | null
  looked_at: number | null
  texts: Texts
  /** Where the second of two texts begins, on a line of its own; 0 for one. */
  written: number
  /** What a click on a single text sets. */
  sets: "query" | "key"
  /** With Shift a click or Enter sets the key, told as "key". */
  both: boolean
  palette: Palette
  /** What the bar under each chip says; none without bars. */
  bar_words: string[]
  /** What they mean. */
  bars_said: string
}

export interface Arrays {
  positions: Ints
  counts: Ints
  special: Bytes
  /** 0..1 tints the chip; NaN leaves it plain. */
  metric: Floats
  /**
   * [chips, chips]: what the last token of each chip gives to each, a share; NaN where masked. With them the chips
   * are tinted by the row of the selected token before the page answers, and by one that is pointed at in another
   * figure.
   */
  rows?: Floats
  /** [chips]: the length of the bar under each, 0..1; NaN for none. */
  bars?: Floats
}
