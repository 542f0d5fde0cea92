// What sampling_bench.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  /** Of every token. */
  labels: string[]
  position: number
  /** The token the distribution comes after. */
  after: string
  /** The id of the token that the text goes on with; null at its end. */
  actual: number | null
  start: Start
  /** By name, in their usual order: rows of the table in model_runner/transforms.py, with their words. */
  transforms: Record<string, any>
  texts: Texts
  most_draws: number
  palette: Palette
}

export interface Arrays {
  /** [vocab] */
  logits: Floats
  /** Ids that the repetition penalty makes less likely. */
  previous: Ints
}

/** What the bench shows at first: the settings A and B, whether B stands beside A, draws made, a token marked. */
export interface Start {
  a: Record<string, any>
  b: Record<string, any>
  compare: boolean
  draws: number
  find: number | null
  /** With another one than before, a bench that is on the screen takes them over, whatever was set in it. */
  number: number
}
