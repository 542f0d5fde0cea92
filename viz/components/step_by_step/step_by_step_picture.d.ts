// What step_by_step.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"
import type { Numbers, Rows } from "./types"

export interface Meta {
  /** Small numbers by matrix, before any edits. */
  usual: Numbers | null
  /** The edited ones, see edits.js. */
  edits: string
  settings: StepSettings
  /** Of a model. */
  chain: DrawnChain | null
  step: string
  /** Results are hidden. */
  ask: boolean
  texts: Texts
  /** A class follows, and can be asked about a hidden number. */
  room: boolean
  /** Largest number that can be typed. */
  most: number
  palette: Palette
}

/** Settings for small numbers; a model's chain was computed with its own. */
export interface StepSettings {
  heads: number
  head: number
  causal: boolean
  scaled: boolean
  /** Key/value heads; by default every head has its own. */
  kv_heads?: number
  /** Settings of a feed-forward network, which is then computed. */
  activation?: string
  gated?: boolean
}

/** Matrices by their letters, and the steps. Sliders are drawn in the browser, which computes `live`. */
export interface DrawnChain {
  matrices: Record<string, DrawnMatrix>
  steps: DrawnStep[]
  knobs?: DrawnKnob[]
  live?: Live
}

/** A matrix, which may be shown in part. */
export interface DrawnMatrix {
  name: string
  values: Rows
  rows: string[]
  columns: string[]
  /** Shape of the whole matrix. */
  shape: number[]
  /** query, key, value or */
  side: string
  /** share: a weight in 0..1 */
  unit: string
  /** The name of a row that is identified by a token: q, k. */
  vector: string
  /** Ends of its colour scale, above and below 0; by default its maximum. */
  most?: number
  /** Its numbers before any edits; without them it cannot be edited. */
  usual?: Rows
}

/** How each number of `result` is computed. */
export interface DrawnStep {
  id: string
  /** given, model, product, rotate, scale, mask, softmax, concat, sum, gradient, apply, add, times, told */
  kind: string
  result: string
  left?: string
  right?: string
  /** The right factor is stored transposed. */
  turned?: boolean
  parts?: string[]
  causal?: boolean
  /** The applied function: its name, and the function if it is ReLU, SiLU or GELU. */
  activation?: string
  factor?: number
  root?: number
  softcap?: number
  bias?: Rows
  /**
   * What is not shown: a product's partial sum, or a softmax's sum of exponentials relative to the row's maximum.
   */
  rest?: Rows
  /** How many are not shown, in each row. */
  more?: number[]
  /** For a following norm: what is first subtracted from each sum, and its factor. */
  less?: Rows
  times?: Rows
  /** dimensions, keys, heads: what `more` counts. */
  of?: string
  /** Each row's largest score, possibly of a key that is not shown. */
  top?: number[]
  /** For a rotation: each column's partner, and each row's cosine and signed sine. */
  partner?: number[]
  cos?: Rows
  sin?: Rows
  /** For a step explained by the host: for each number its lines, and what is highlighted. */
  lines?: string[][][]
  lights?: Light[]
  /** Name of a norm that follows the product. */
  normed?: string
  /** A bias is added to every sum. */
  biased?: boolean
  /** Its own names: of the small picture, the heading, and the text beside it. */
  short?: string
  title?: string
  note?: string
}

/** What is highlighted: a matrix, or a row and a column of it; "i" and "j" are those of the number pointed at. */
export interface Light {
  matrix: string
  row?: number | string
  column?: number | string
}

/** A slider from `least` to `most`, or over `values`. */
export interface DrawnKnob {
  name: string
  label: string
  value: number
  least: number
  most: number
  step: number
  values: number[] | null
}

/** What depends on knobs and typed numbers, computed from the editable row. */
export interface Live {
  /** scale: a row times a factor, its softmax, its gradient; softmax: a row by every method in a dtype. */
  kind: string
  /** The editable row: for each value of the first knob, or multiplied by it. */
  row: string
  usual: Rows
  scaled: boolean
  dtype: string
  /** A step's text with {d} and {factor} in it. */
  notes: Record<string, string>
}
