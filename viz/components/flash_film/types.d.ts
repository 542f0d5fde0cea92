// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./flash_film_picture"

export * from "./flash_film_picture"

/** What attention is computed of. */
export interface Work {
  n: number
  d: number
  dv: number
  scores: ArrayLike<number>
  v: ArrayLike<number>
  sink: number | null
}

export interface Plan {
  rows: number
  columns: number
  order: string
}

export interface Move {
  way: "read" | "write"
  name: string
  first: number
  stop: number
  numbers: number
}

/** A frame a column: what happens, in which tile, how many tiles are computed, and what was moved so far. */
export interface Reel {
  work: Work
  plan: Plan
  /** For each block of queries its blocks of keys. */
  seen: number[][]
  /** For each block of keys the first and the last block of queries that sees it. */
  firstRow: number[]
  lastRow: number[]
  kind: number[]
  i: number[]
  j: number[]
  done: number[]
  read: number[]
  written: number[]
  tiles: number
}

/** A tile as a row met it. */
export interface Met {
  j: number
  first: number
  stop: number
  before: { max: number; sum: number }
  tileMax: number
  /** What all before it is multiplied by. */
  shrink: number
  tileSum: number
  max: number
  sum: number
  output: Float64Array
}

export interface State extends Life {
  meta: Meta
  reel: Reel
  at: number
  row: number
  playing: boolean
  speed: number
}
