// What sampling_bench.py packs.

import type { Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  labels: string[]
  position: number
  /** The token the distribution comes after. */
  after: string
  /** The token that the text goes on with. */
  actual: number | null
  /** `number` counts the settings that were not set here. */
  start: { a: Settings; b: Settings; compare: boolean; draws: number; find: number | null; number: number }
  most_draws: number
  /** In their usual order. */
  transforms: Record<string, Transform>
  texts: Texts
  palette: Palette
}

/** A row of the table in model_runner/transforms.py. */
export interface Transform {
  off: number
  bounds: { least: number; most: number | null; open: "" | "least" | "most"; or_zero: boolean; whole: boolean }
  /** Of the slider. */
  steps: number[]
  /** Where it is when first switched on. */
  first: number
  /** Whether it takes tokens away. */
  removes: boolean
  label: string
  about: string
  rule: string
  at_zero: string
  beyond: string
}

export type Settings = Record<string, any> & { order: string[]; seed: string }

export interface Arrays {
  logits: Floats
  previous: Ints
}

export interface State extends Life {
  meta: Meta
  logits: Floats
  previous: Ints
}
