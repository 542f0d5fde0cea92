// What bracketings.py packs.

import type { Floats, Life, Palette, Texts } from "../shared/types"
import type { State as Sums } from "./sums"

export interface Meta {
  /** Tokens as they are labelled. */
  labels: string[]
  /** The number of the first one in the text. */
  first: number
  /** Whether a query sees nothing after it. */
  causal: boolean
  /** What is left of a token one token later; 1 where nothing fades. */
  decay: number
  /** Whether a row is divided by the sum of its weights. */
  divides: boolean
  /** Tokens in a block; 0 where both orders are shown instead of blocks. */
  block: number
  /** The last token that has been read. */
  read: number
  /** How queries and keys are called: φ(Q) where they are features. */
  query: string
  key: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** tokens × d, as they are compared */
  q: Floats
  k: Floats
  /** tokens × d_value */
  v: Floats
}

/** What is computed. */
export interface Work {
  n: number
  d: number
  dv: number
  q: ArrayLike<number>
  k: ArrayLike<number>
  v: ArrayLike<number>
  causal: boolean
  decay: number
  divides: boolean
}

/** Both parts of the output, tokens × d_value. */
export interface Blocks {
  size: number
  intra: Float64Array
  inter: Float64Array
}

export interface State extends Life {
  meta: Meta
  arrays: Arrays
  work: Work
  map: Float64Array
  kept: Sums[]
  left: Float64Array
  right: Float64Array
  blocks: Blocks
  /** The sum of both parts. */
  total: Float64Array
  /** The largest difference between the output of one way and that of the other. */
  off: number
  theme: any
  at: number
  block: number
  playing: boolean
}
