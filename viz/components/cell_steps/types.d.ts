// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Arrays, Meta } from "./cell_steps_picture"

export * from "./cell_steps_picture"

type Added = [token: string, logit: number]
export interface Push {
  promoted: Added[]
  suppressed: Added[]
  mean: number
  predicted: [token: string, added: number, logit: number]
}

export interface State extends Life {
  meta: Meta
  arrays: Arrays
  key: number
  query: number
  /** Whether it goes from step to step by itself. */
  walking: boolean
}

/** What of it is pointed at and opened, see shared/follow.js. */
export interface At {
  of: string
  key: number
  open: number
  /** Of q and k, and of the values; null: none. */
  dimension: number | null
  valueDimension: number | null
}
