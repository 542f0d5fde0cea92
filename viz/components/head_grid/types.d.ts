// What its scripts keep, beside what they are sent.

import type { Bytes, Floats, Ints, Life } from "../shared/types"
import type { Meta } from "./head_grid_picture"

export * from "./head_grid_picture"

export type Head = [layer: number, head: number]

export interface State extends Life {
  meta: Meta
  thumbnails: Bytes
  keep: Bytes
  left_out: Bytes | null
  metric: Floats
  order: Ints | null
  selected: Head
  compared: Head | null
  hovered: Head | null
  /** What other figures point at: a head, and a cell as shares of the map: from the top, from the left, its side. */
  lit: Head | null
  mark: [down: number, right: number, side: number] | null
}
