// What film.py packs.

import type { Bytes, Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  film: string
  start: number
  prompt: { labels: string[]; units: [label: string, start: number, special: boolean][] } | null
  prefill: [tokens: number, seconds: number] | null
  frames: Frame[]
  /** Columns of each frame's attention row. */
  widths: number[]
  cache: { first: number; pooled: number; before: number; growth: Growth | null }
  view: { head: [layer: number, head: number]; heads: [layer: number, head: number | null][]; total: number; bin: number; group: number }
  vocab: number
  limit: number
  /** Why it does not go on; empty while it may. */
  stop: string
  /** What may come after the last frame; its position is 0. */
  ahead: Frame | null
  at: number
  goal: number
  pending: boolean
  answered: number
  alive: boolean
  labels: Record<string, string>
  texts: Texts
  palette: Palette
}

/** Bytes of the cache: `fixed`, and of each part so many a token, up to so many tokens. */
export interface Growth {
  parts: [each: number, most: number | null][]
  fixed: number
  read: number
  shape: [number, number, number, number] | null
}

export interface Frame {
  token: number | null
  label: string
  special: boolean
  position: number
  how: string
  probability: number | null
  rank: number | null
  entropy: number
  /** Whether the settings make another distribution of it than the model's own; `final…` belong to that. */
  changed: boolean
  final: number | null
  finalRank: number | null
  finalEntropy: number
  finalRest: number
  uniform: number | null
  seconds: number | null
  nKept: number
  keptMass: number
  tokens: number[]
  probabilities: number[]
  finals: number[]
  kept: boolean[]
}

export interface Arrays {
  rows: Floats
  /** Where a column has several tokens, the position of the one that has each of these weights. */
  keys: Int32Array
  strips: Bytes
  k: Floats
  v: Floats
}

export interface State extends Life {
  meta: Meta
  reel: any
  at: any
  speed: any
  playing: any
  asking: any
  resting: number
  /** The last frame that the reader saw, and the last one whose token the text shows. */
  seen: number
  shown: number
  beats: Animation[]
  /** Where the host was last told that the reader stays. */
  told: string
}
