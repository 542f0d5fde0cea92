// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./head_groups_picture"

export * from "./head_groups_picture"

export interface State extends Life {
  meta: Meta
  head: number
  pooled: number
  hovered: number | null
}
