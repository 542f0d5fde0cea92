// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Arrays, Meta } from "./token_strip_picture"

export * from "./token_strip_picture"

export interface State extends Life {
  meta: Meta
  box: any
  /** What the colours say. */
  note: HTMLElement
  /** The chip under the pointer, which is no token position. */
  hovered: number | null
  /** The chip whose row is pointed at in another figure. */
  row: number | null
  arrays: Arrays
  selected: number | null
  lookedAt: number | null
}
