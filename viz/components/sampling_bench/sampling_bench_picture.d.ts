// What sampling_bench.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Labels of every token. */
  labels: string[]
  position: number
  /** The token before the distribution. */
  after: string
  /** The id of the text's next token; null at its end. */
  actual: number | null
  start: Start
  /** By name, in their default order: rows of the table in model_runner/transforms.py, with their texts. */
  transforms: Record<string, any>
  texts: Texts
  most_draws: number
  palette: Palette
}

export interface Arrays {
  /** [vocab] */
  logits: Floats
  /** Ids to which the repetition penalty applies. */
  previous: Ints
}

/** The bench's initial state: the settings A and B, whether B is shown beside A, samples, and a marked token. */
export interface Start {
  a: Record<string, any>
  b: Record<string, any>
  compare: boolean
  draws: number
  find: number | null
  /** A new number makes a mounted bench take over these settings, whatever was set in it. */
  number: number
}
