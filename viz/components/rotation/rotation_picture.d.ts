// What rotation.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  token: string
  /** The token's position. */
  own: number
  /** The one shown first, in the range `span` or as wide a one as it needs. */
  position: number
  /** How many positions the model was built for. */
  context: number
  /** What the rotation stretches by. */
  factor: number
  /** How far the turned vectors are from the captured ones, in words. */
  difference: string
  texts: Texts
  span: "near" | "context" | "far"
  /** The pinned one. */
  pair: number | null
  notes: string[]
  palette: Palette
  /** Positions of the finest range: more when the text is longer. */
  near: number
  /** Positions that the slider reaches. */
  farthest: number
}

export interface Arrays {
  /** [pairs, 2] */
  q: Floats
  k: Floats
  theta: Floats
  /** [pairs, 2]: each pair's coordinates. */
  dimensions: Ints
}
