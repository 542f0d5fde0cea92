// What its scripts keep, beside what they are sent.

import type { Bytes, Life } from "../shared/types"
import type { Meta } from "./family_masks_picture"

export * from "./family_masks_picture"

export interface State extends Life {
  meta: Meta
  cells: Bytes
  selected: string
  hovered: { kind: number; query: number; key: number } | null
}
