// What bracketings.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** The number of the first token in the text. */
  first: number
  /** Whether a query sees nothing after it. */
  causal: boolean
  /** What is left of a token one token later; 1 where nothing fades. */
  decay: number
  /** Whether a row is divided by the sum of its weights. */
  divides: boolean
  /** Tokens in a block; 0 where both orders are shown in the place of blocks. */
  block: number
  /** The last token that has been read. */
  read: number
  /** How queries are called: φ(Q) where they are features. */
  query: string
  key: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [tokens, d], as they are compared. */
  q: Floats
  k: Floats
  /** [tokens, d_value] */
  v: Floats
}
