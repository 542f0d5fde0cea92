// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./step_by_step_picture"

export * from "./step_by_step_picture"

export type Rows = number[][]

/** The matrices that can be edited: the small ones, or those of a chain that have `usual` numbers. */
export type Numbers = Record<"X" | "WQ" | "WK" | "WV" | "WO", Rows>

/** Those of a feed-forward part. */
export type FeedForwardNumbers = Record<"X" | "WG" | "W1" | "B1" | "W2" | "B2", Rows>

export interface Settings {
  heads: number
  head: number
  causal: boolean
  scaled: boolean
  /** Key/value heads of small numbers; without it every head has its own. */
  kv_heads?: number
  /** Of a feed-forward part, which is then computed. */
  activation?: string
  gated?: boolean
}

export interface Matrix {
  name: string
  /** −∞ where masked: null in JSON; ∞ and NaN as words. */
  values: Rows
  rows: string[]
  columns: string[]
  /** query, key, value or "" */
  side: string
  /** share: a weight, 0..1 */
  unit: string
  /** At the end of its colours, above 0 and below; without it its largest number is. */
  most?: number | null
  /** What a row is called where it is named by a token: q, k. */
  vector?: string
  /** Of the whole matrix, of which a part may be shown. */
  shape: number[]
  /** Its numbers before the reader changed any; without them it cannot be edited. */
  usual?: Rows | null
}

/** One step: how each number of `result` comes about. */
export interface Step {
  id: string
  /** given, model, product, rotate, scale, mask, softmax, concat, sum, gradient, apply, add, times, told */
  kind: string
  left?: string
  right?: string
  /** The right one stands with its rows as columns. */
  turned?: boolean
  parts?: string[]
  result: string
  causal?: boolean
  /** What is applied: its name, and its function where it is ReLU, SiLU or GELU. */
  activation?: string
  factor?: number
  root?: number | null
  softcap?: number | null
  bias?: Rows | null
  /** What is not shown: of a product its sum, of a softmax e to its scores less the row's largest; and how many. */
  rest?: Rows | null
  more?: number[] | null
  /** Of a norm that follows: what each sum is first lessened by, and then multiplied by. */
  less?: Rows | null
  times?: Rows | null
  /** dimensions, keys, heads: what `more` counts. */
  of?: string
  /** Each row's largest score, which may be of a key that is not shown. */
  top?: number[] | null
  /** Of a rotation, for each column: its partner, and for each row the cosine and the signed sine. */
  partner?: number[]
  cos?: Rows
  sin?: Rows
  /** Of a step that the host explains: for each number its lines, and what lights up. */
  lines?: string[][][]
  /** A norm of this name follows the product. */
  normed?: string
  /** Whether a bias comes to every sum. */
  biased?: boolean
  lights?: { matrix: string; row?: number | string; column?: number | string }[]
  /** Names of its own: of the small picture, the heading, and what is said beside it. */
  short?: string
  title?: string
  note?: string
}

export interface Chain {
  matrices: Record<string, Matrix>
  steps: Step[]
  /** Numbers to draw; the browser follows, as `live` says, until the host has answered. */
  knobs?: Knob[]
  live?: Live
}

/** A slider: from `least` to `most`, or over `values`. */
export interface Knob {
  name: string
  label: string
  value: number
  least: number
  most: number
  step: number
  values: number[] | null
}

/** What follows from knobs and typed numbers, of the row that can be edited on. */
export interface Live {
  /** scale: a row times a factor, its softmax, its gradient; softmax: a row by every way in a dtype. */
  kind: string
  /** The row that can be edited: of each value of the first knob, or times it. */
  row: string
  usual: Rows
  scaled: boolean
  dtype: string
  /** Of a step, what is said with a {d} and a {factor} in it. */
  notes: Record<string, string>
}

/** A number and where it came from. */
export interface Told {
  /** Matrix → rows, columns, or one cell that are lit. */
  lit: { matrix: string; row?: number; column?: number }[]
  lines: string[]
}

/** What is pointed at, uncovered, turned and typed, see shared/follow.js. */
export interface Shown {
  of: string
  step: string
  at: [row: number, column: number] | null
  revealed: string[]
  ask: boolean
  /** null: those of the data, which may be longer than what can be told. */
  edits: string | null
  knobs: Record<string, number>
}

export interface State extends Life {
  meta: Meta
  /** What can be edited: before any change, and now. */
  usual: Numbers
  numbers: Numbers
  edits: string
  /** Of each knob what it stands at. */
  knobs: Record<string, number>
  chain: Chain
  step: string
  ask: boolean
  /** Cells that were covered and clicked: step, row, column. */
  revealed: Set<string>
  at: [row: number, column: number] | null
  /** The cell that was clicked last, of which a class can be asked. */
  picked: [row: number, column: number] | null
  /** The timer of play; 0 while it rests. */
  playing: number
}
