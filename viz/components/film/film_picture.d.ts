// What film.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Its name. */
  film: string
  start: number
  frames: Frame[]
  prompt: Prompt | null
  /** How many tokens were read at once, and in how many seconds. */
  prefill: [tokens: number, seconds: number] | null
  cache: Cache
  view: FilmView
  n_vocab: number
  /** How many tokens the film may have. */
  limit: number
  /** Why it does not go on; empty while it may. */
  stop: string
  /** The frame a new film opens at. */
  at: number
  /** Up to which one it is fetched unasked. */
  goal: number
  /** There is more to make beside it. */
  pending: boolean
  /** The last ask heard. */
  answered: number
  /** Not in a file, where nobody answers. */
  alive: boolean
  /** Of the candidates. */
  labels: Record<string, string>
  texts: Texts
  /** What may come after the last frame; its position is 0. */
  ahead: Frame | null
  palette: Palette
  /** Columns of each frame's attention row. */
  widths: number[]
}

export interface Arrays {
  /** The frames' rows, one after the other. */
  rows: Floats
  /** Where a column has several tokens, the position of the one that has each of these weights. */
  keys: Ints
  /** The frames' strips, one after the other. */
  strips: Bytes
  /** [columns, d] of the cache. */
  k: Floats
  /** [columns, d] of the cache. */
  v: Floats
}

/**
 * One frame as it is drawn. The first one of a film is the prompt: nothing chosen, `label` its last token. The
 * candidates are listed by falling probability of the model, the chosen one among them. `probability`, `rank` and
 * `entropy` are the model's own; `final` and all named after it belong to what the settings make of it.
 */
export interface Frame {
  token: number | null
  label: string
  special: boolean
  /** Where the token stands. */
  position: number
  how: string
  probability: number | null
  rank: number | null
  entropy: number
  /** Whether the settings make another distribution of it than the model's own. */
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
  /** What the candidates were drawn with. */
  finals: number[]
  kept: boolean[]
}

/** The tokens before the first generated one. */
export interface Prompt {
  labels: string[]
  /** Its chips: a label, the first token that it stands for (the bytes of a character share one), a special one. */
  units: [label: string, start: number, special: boolean][]
}

/** Keys and values of the open head's cache from column `first` on. */
export interface Cache {
  first: number
  /** Dimensions in one row of the picture. */
  pooled: number
  /** null where none is known. */
  growth: GrowingBytes | null
  /** Positions of the picture that are read and not written. */
  before: number
}

/** Bytes of the cache, over all layers: `fixed`, and of each part so many a token, up to so many tokens. */
export interface GrowingBytes {
  parts: [each: number, most: number | null][]
  fixed: number
  read: number
  shape: [number, number, number, number] | null
}

/** What the picture shows beside the frames: a head, and the rows of the strip, or none. */
export interface FilmView {
  head: [layer: number, head: number]
  /** A row without a head is the largest of its layer's heads. */
  heads: [layer: number, head: number | null][]
  /** Of the whole model. */
  n_heads: number
  /** Tokens in one column. */
  bin: number
  /** Neighbouring heads that share one key and value head. */
  group: number
}
