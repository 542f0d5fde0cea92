// What its scripts keep, beside what they are sent.

import type { Floats, Life } from "../shared/types"
import type { Meta } from "./layer_head_map_picture"

export * from "./layer_head_map_picture"

export type Cell = [row: number, column: number]

export interface State extends Life {
  meta: Meta
  values: Floats
  rows: number
  columns: number
  rowLabels: string[]
  columnLabels: string[]
  open: Cell | null
  hovered: Cell | null
}
