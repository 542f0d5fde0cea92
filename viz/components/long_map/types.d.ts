// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./long_map_picture"

export * from "./long_map_picture"

export interface State extends Life {
  meta: Meta
  view: any
  store: any
  parts: any
  selected: Meta["selected"]
  hovered: [query: number, key: number] | null
  found: number[]
}
