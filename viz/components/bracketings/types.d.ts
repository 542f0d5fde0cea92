// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Arrays, Meta } from "./bracketings_picture"

export * from "./bracketings_picture"

import type { State as Sums } from "./sums"

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
