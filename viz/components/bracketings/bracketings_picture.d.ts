// What bracketings.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  /** Number of the first token in the text. */
  first: number
  /** Whether attention is causal. */
  causal: boolean
  /** What remains of a token one token later; 1 without decay. */
  decay: number
  /** Whether a row is divided by the sum of its weights. */
  divides: boolean
  /** Tokens in a block; 0 to show both orders instead of blocks. */
  block: number
  /** The last token read. */
  read: number
  /** The label of the queries: φ(Q) if they are features. */
  query: string
  key: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [tokens, d], after the feature map. */
  q: Floats
  k: Floats
  /** [tokens, d_value] */
  v: Floats
}
