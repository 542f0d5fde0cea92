// What film.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Its name. */
  film: string
  start: number
  frames: Frame[]
  prompt: Prompt | null
  /** Number of tokens of the prefill, and its seconds. */
  prefill: [tokens: number, seconds: number] | null
  cache: Cache
  view: FilmView
  n_vocab: number
  /** Longest possible film, in tokens. */
  limit: number
  /** Why it does not continue; empty while it may. */
  stop: string
  /** The frame at which a new film opens. */
  at: number
  /** The number of frames to fetch in advance. */
  goal: number
  /** Other branches are still to be generated. */
  pending: boolean
  /** The last request that was handled. */
  answered: number
  /** False in a file, where no server answers. */
  alive: boolean
  /** Of the candidates. */
  labels: Record<string, string>
  texts: Texts
  /** Candidates after the last frame; its position is 0. */
  ahead: Frame | null
  palette: Palette
  /** Number of columns in each frame's attention row. */
  widths: number[]
}

export interface Arrays {
  /** The frames' rows, concatenated. */
  rows: Floats
  /** If columns have several tokens, the position of the one with each weight. */
  keys: Ints
  /** The frames' strips, concatenated. */
  strips: Bytes
  /** [columns, d]: keys in the cache. */
  k: Floats
  /** [columns, d]: values in the cache. */
  v: Floats
}

/**
 * One frame. The first one is the prompt: nothing is chosen, and `label` is its last token. Candidates are listed
 * by decreasing model probability and include the chosen one. `probability`, `rank` and `entropy` are the model's
 * own; `final` and the fields after it are those after the sampling settings.
 */
export interface Frame {
  token: number | null
  label: string
  special: boolean
  /** The token's position. */
  position: number
  how: string
  probability: number | null
  rank: number | null
  entropy: number
  /** Whether the settings change the model's distribution. */
  changed: boolean
  final: number | null
  final_rank: number | null
  final_entropy: number
  final_rest: number
  uniform: number | null
  seconds: number | null
  n_kept: number
  kept_mass: number
  tokens: number[]
  probabilities: number[]
  /** The random number with which a candidate was drawn. */
  finals: number[]
  kept: boolean[]
}

/** The tokens before the first generated one. */
export interface Prompt {
  labels: string[]
  /**
   * Its chips: a label, the index of its first token (bytes of one character share a chip), whether it is special.
   */
  units: [label: string, start: number, special: boolean][]
}

/** Keys and values of the open head's cache from column `first` on. */
export interface Cache {
  first: number
  /** Dimensions in one row of the picture. */
  pooled: number
  /** null if unknown. */
  growth: GrowingBytes | null
  /** Positions in the picture that belong to the source. */
  before: number
}

/** Bytes of the cache in all layers: `fixed`, plus bytes per token for each part, up to a number of tokens. */
export interface GrowingBytes {
  parts: [each: number, most: number | null][]
  fixed: number
  read: number
  shape: [number, number, number, number] | null
}

/** What the picture shows beside the frames: a head, and the rows of the strip, if any. */
export interface FilmView {
  head: [layer: number, head: number]
  /** A row without a head is the maximum over its layer's heads. */
  heads: [layer: number, head: number | null][]
  /** Of the whole model. */
  n_heads: number
  /** Tokens in one column. */
  bin: number
  /** Adjacent heads that share a key/value head. */
  group: number
}
