// What its scripts keep, beside what they are sent.

import type { Floats, Life } from "../shared/types"
import type { Meta } from "./token_lines_picture"

export * from "./token_lines_picture"

export type Row = { side: "query" | "key"; row: number }

export interface State extends Life {
  meta: Meta
  at: any
  scroller: any
  weights: Floats
  pinned: number | null
  lookedAt: number | null
  hover: Row | null
  held: Row | null
  /** Rows that are pointed at in other figures. */
  lit: { query: number | null; key: number | null }
}
