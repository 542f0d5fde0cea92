// What score_shift.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  tokens: [query: string, key: string]
  /** Positions of the two tokens. */
  own: [query: number, key: number]
  /** The initial ones, in the range `span` or as wide a range as they need. */
  positions: [query: number, key: number]
  context: number
  causal: boolean
  scale: number
  rest: number
  softcap: number | null
  /** The largest change of any score of this head under a common shift, in words. */
  deviation: string
  texts: Texts
  /** Beyond the context there is nothing to shift: "far" is shown as "context". */
  span: "near" | "context" | "far"
  /** Whether both move together. */
  lock: boolean
  palette: Palette
  /** Positions of the finest range. */
  near: number
}

export interface Arrays {
  /** [pairs, 2] */
  q: Floats
  k: Floats
  theta: Floats
}
