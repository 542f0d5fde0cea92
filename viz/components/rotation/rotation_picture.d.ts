// What rotation.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  token: string
  /** The token's position. */
  own: number
  /** The initial one, in the range `span` or as wide a range as it needs. */
  position: number
  /** The model's context length. */
  context: number
  /** Factor by which the rotation scales. */
  factor: number
  /** Largest deviation of the rotated vectors from the captured ones, in words. */
  difference: string
  texts: Texts
  span: "near" | "context" | "far"
  /** The pinned pair. */
  pair: number | null
  notes: string[]
  palette: Palette
  /** Positions of the finest range, more if the text is longer. */
  near: number
  /** Positions that the slider reaches. */
  farthest: number
}

export interface Arrays {
  /** [pairs, 2] */
  q: Floats
  k: Floats
  theta: Floats
  /** [pairs, 2]: the dimensions of each pair. */
  dimensions: Ints
}
