// What family_masks.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Palette, Texts } from "../shared/types"

export interface Meta {
  kinds: Kind[]
  selected: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [kinds, side, side], each kind's in the upper left corner of its own. */
  cells: Bytes
}

/** One kind of attention. */
export interface Kind {
  name: string
  title: string
  /** What it is for. */
  use: string
  /** Which models are of it. */
  who: string
  /** What is to be said of this picture. */
  note: string
  tokens: string[]
  /** Tokens of the text that is read, where another is written; 0 for a single text. */
  n_read: number
  /** Tokens that are not drawn. */
  cut: number
}
