// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { DrawnChain, Meta } from "./step_by_step_picture"

export * from "./step_by_step_picture"

/** −∞ where masked: null in JSON; ∞ and NaN as words. */
export type Rows = number[][]

/** The matrices that can be edited: the small ones, or those of a chain that have `usual` numbers. */
export type Numbers = Record<"X" | "WQ" | "WK" | "WV" | "WO", Rows>

/** Those of a feed-forward part. */
export type FeedForwardNumbers = Record<"X" | "WG" | "W1" | "B1" | "W2" | "B2", Rows>

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
  chain: DrawnChain
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
