// What the Python modules of this folder pack.

import type { Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface RotationMeta {
  head: string
  token: string
  own: number
  position: number
  span: string
  context: number
  near: number
  farthest: number
  factor: number
  difference: string
  /** The pinned one. */
  pair: number | null
  notes: string[]
  texts: Texts
  palette: Palette
}

export interface RotationArrays {
  q: Floats
  k: Floats
  theta: Floats
  dimensions: Ints
}

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

export interface SchemesMeta {
  schemes: Scheme[]
  texts: Texts
  palette: Palette
}

export interface Scheme {
  name: string
  label: string
  formula: string
  note: string
  enters: string
  stores: string
  depends: string
  extrapolates: string
  paper: string
  steps: boolean
}

export interface SchemesState extends Life {
  meta: SchemesMeta
  /** matrix0, curves0, matrix1, … */
  arrays: Record<string, Floats>
}

export interface ShiftMeta {
  head: string
  tokens: [query: string, key: string]
  own: [query: number, key: number]
  positions: [query: number, key: number]
  span: string
  /** Whether both move together. */
  lock: boolean
  context: number
  near: number
  causal: boolean
  scale: number
  rest: number
  softcap: number | null
  deviation: string
  texts: Texts
  palette: Palette
}

export interface ShiftArrays {
  /** x, y of each pair in turn */
  q: Floats
  k: Floats
  theta: Floats
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

export interface SplitMeta {
  head: string
  query: [label: string, position: number]
  key: number
  labels: string[]
  n_rest: number
  softcap: number | null
  note: string
  texts: Texts
  palette: Palette
}

export interface SplitArrays {
  positions: Ints
  /** [pairs, keys] */
  contributions: Floats
  rest: Floats
  theta: Floats
  /** 0 or 1 */
  keep: ArrayLike<number>
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

export interface SweepMeta {
  layer: number
  head: number
  group: number
  facts: string[]
  notes: string[]
  texts: Texts
  palette: Palette
}

export interface SweepArrays {
  /** [heads, distances] */
  scores: Floats
  distances: Ints
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
