// What family_masks.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Palette, Texts } from "../shared/types"

export interface Meta {
  kinds: Kind[]
  selected: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [kinds, side, side], each kind's mask in the upper left corner. */
  cells: Bytes
}

/** One kind of attention. */
export interface Kind {
  name: string
  title: string
  /** What it is used for. */
  use: string
  /** Models of this kind. */
  who: string
  /** A note about this picture. */
  note: string
  tokens: string[]
  /** Tokens of the source, if there is a target; 0 for a single text. */
  n_read: number
  /** Tokens that are not drawn. */
  cut: number
}
