// What its scripts keep, beside what they are sent.

import type { Floats, Life } from "../shared/types"
import type { Meta as SchemesMeta } from "./position_schemes_picture"
import type { Arrays as RotationArrays, Meta as RotationMeta } from "./rotation_picture"
import type { Arrays as ShiftArrays, Meta as ShiftMeta } from "./score_shift_picture"
import type { Arrays as SplitArrays, Meta as SplitMeta } from "./score_split_picture"
import type { Arrays as SweepArrays, Meta as SweepMeta } from "./score_sweep_picture"

export type { Meta as SchemesMeta } from "./position_schemes_picture"
export type { Arrays as RotationArrays, Meta as RotationMeta } from "./rotation_picture"
export type { Arrays as ShiftArrays, Meta as ShiftMeta } from "./score_shift_picture"
export type { Arrays as SplitArrays, Meta as SplitMeta } from "./score_split_picture"
export type { Arrays as SweepArrays, Meta as SweepMeta } from "./score_sweep_picture"

export interface RotationState extends Life {
  meta: RotationMeta
  grid: any
  waveX: any
  pairs: Pair[]
  pair: number | null
  pinned: number | null
  pinning: any
}

/** What of it is pointed at, see shared/follow.js; `pair` null: none. */
export interface RotationAt {
  of: string
  position: number
  range: string
  pair: number | null
}

export interface Pair {
  theta: number
  wavelength: number
  q: [number, number]
  k: [number, number]
  dimensions: [number, number]
}

export interface SchemesState extends Life {
  meta: SchemesMeta
  /** matrix0, curves0, matrix1, … */
  arrays: Record<string, Floats>
}

export interface ShiftState extends Life {
  meta: ShiftMeta
  at: any
  arrays: ShiftArrays
}

export interface ShiftAt {
  of: string
  positions: [query: number, key: number]
  range: string
  lock: boolean
}

export interface SplitState extends Life {
  meta: SplitMeta
  arrays: SplitArrays
  values: Float32Array[]
  waves: number[]
  positions: number[]
  pair: number | null
  hovered: number | null
}

/** The keys by their positions in the text. */
export interface SplitAt {
  of: string
  pair: number | null
  key: number
  hovered: number | null
}

export interface SweepState extends Life {
  meta: SweepMeta
  curves: Float32Array[]
  distances: number[]
  hovered: number | null
  distance: number | null
}

/** `head` is chosen, `hovered` is pointed at. */
export interface SweepAt {
  of: string
  head: number
  hovered: number | null
  distance: number | null
}
