// What step_by_step.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"
import type { Numbers, Rows } from "./types"

export interface Meta {
  /** Small numbers by matrix, before the reader changed any. */
  usual: Numbers | null
  /** Those that were changed, see edits.js. */
  edits: string
  settings: StepSettings
  /** Of a model. */
  chain: DrawnChain | null
  step: string
  /** Results are covered. */
  ask: boolean
  texts: Texts
  /** A class follows, which can be asked for a covered number. */
  room: boolean
  /** The largest number that can be typed. */
  most: number
  palette: Palette
}

/** Of small numbers; a model's chain has been computed with its own. */
export interface StepSettings {
  heads: number
  head: number
  causal: boolean
  scaled: boolean
  /** Key/value heads; without it every head has its own. */
  kv_heads?: number
  /** Of a feed-forward part, which is then computed. */
  activation?: string
  gated?: boolean
}

/** Matrices by their letters, and the steps. Sliders are drawn in the browser, which computes what `live` says. */
export interface DrawnChain {
  matrices: Record<string, DrawnMatrix>
  steps: DrawnStep[]
  knobs?: DrawnKnob[]
  live?: Live
}

/** A matrix, of which a part may be shown. */
export interface DrawnMatrix {
  name: string
  values: Rows
  rows: string[]
  columns: string[]
  /** Of the whole matrix. */
  shape: number[]
  /** query, key, value or "" */
  side: string
  /** share: a weight, 0..1 */
  unit: string
  /** What a row is called where it is named by a token: q, k. */
  vector: string
  /** At the end of its colours, above 0 and below; without it its largest number is. */
  most?: number
  /** Its numbers before the reader changed any; without them it cannot be edited. */
  usual?: Rows
}

/** How each number of `result` comes about. */
export interface DrawnStep {
  id: string
  /** given, model, product, rotate, scale, mask, softmax, concat, sum, gradient, apply, add, times, told */
  kind: string
  result: string
  left?: string
  right?: string
  /** The right one stands with its rows as columns. */
  turned?: boolean
  parts?: string[]
  causal?: boolean
  /** What is applied: its name, and its function where it is ReLU, SiLU or GELU. */
  activation?: string
  factor?: number
  root?: number
  softcap?: number
  bias?: Rows
  /** What is not shown: of a product its sum, of a softmax e to its scores less the row's largest. */
  rest?: Rows
  /** How many are not shown, of each row. */
  more?: number[]
  /** Of a norm that follows: what each sum is first lessened by, and then multiplied by. */
  less?: Rows
  times?: Rows
  /** dimensions, keys, heads: what `more` counts. */
  of?: string
  /** Each row's largest score, which may be of a key that is not shown. */
  top?: number[]
  /** Of a rotation, for each column: its partner; and for each row the cosine and the signed sine. */
  partner?: number[]
  cos?: Rows
  sin?: Rows
  /** Of a step that the host explains: for each number its lines, and what lights up. */
  lines?: string[][][]
  lights?: Light[]
  /** A norm of this name follows the product. */
  normed?: string
  /** A bias comes to every sum. */
  biased?: boolean
  /** Names of its own: of the small picture, the heading, and what is said beside it. */
  short?: string
  title?: string
  note?: string
}

/** What lights up: a matrix, or a row and a column of it; "i" and "j" are those of the number pointed at. */
export interface Light {
  matrix: string
  row?: number | string
  column?: number | string
}

/** A slider: from `least` to `most`, or over `values`. */
export interface DrawnKnob {
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
