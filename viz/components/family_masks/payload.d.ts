// What family_masks.py packs.

import type { Bytes, Life, Palette, Texts } from "../shared/types"

export interface Kind {
  name: string
  title: string
  use: string
  who: string
  note: string
  tokens: string[]
  /** Tokens of the text that is read, where another is written; 0 for a single text. */
  n_read: number
  /** Tokens that are not drawn. */
  cut: number
}

export interface Meta {
  kinds: Kind[]
  selected: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [kinds, side, side]: 0 not seen, 1 at or before the query, 2 after it, 3 across */
  cells: Bytes
}

export interface State extends Life {
  meta: Meta
  cells: Bytes
  selected: string
  hovered: { kind: number; query: number; key: number } | null
}
