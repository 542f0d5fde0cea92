// What its scripts keep, beside what they are sent.

import type { Bytes, Ints, Life } from "../shared/types"
import type { Meta } from "./mask_gallery_picture"

export * from "./mask_gallery_picture"

export interface State extends Life {
  meta: Meta
  small: Bytes
  reached: Bytes
  distance: Ints | null
  region: Bytes | null
  n: number
  hidden: Set<string>
  given: Set<number>
  hovered: [query: number, key: number] | null
}
