// What quick_head.py packs.

import type { Life } from "../shared/types"

export interface Meta {
  ticket: string
  way: number
  base: string
  of: number[]
}

export interface State extends Life {
  meta: Meta
  /** The head asked for last. */
  of: string
  flight: AbortController | null
}
