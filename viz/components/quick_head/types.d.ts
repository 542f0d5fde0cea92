// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./quick_head_picture"

export * from "./quick_head_picture"

export interface State extends Life {
  meta: Meta
  /** The head asked for last. */
  of: string
  flight: AbortController | null
}
