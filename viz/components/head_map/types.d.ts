// What its scripts keep, beside what they are sent.

import type { Bytes, Floats, Life } from "../shared/types"
import type { Meta } from "./head_map_picture"

export * from "./head_map_picture"

export interface State extends Life {
  meta: Meta
  layout: any
  view: any
  zoom: any
  values: Floats
  overview: Floats | null
  left_out: Bytes | null
  selected: Meta["selected"]
  hovered: [query: number, key: number] | null
  /** What is pointed at in other figures. */
  lit: [query: number | null, key: number | null]
}
