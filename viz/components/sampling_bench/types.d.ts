// What its scripts keep, beside what they are sent.

import type { Floats, Ints, Life } from "../shared/types"
import type { Meta } from "./sampling_bench_picture"

export * from "./sampling_bench_picture"

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

export interface State extends Life {
  meta: Meta
  logits: Floats
  previous: Ints
}
