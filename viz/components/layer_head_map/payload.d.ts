// What layer_head_map.py packs.

import type { Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  title: string
  scale: "sequential" | "signed"
  low: number
  high: number
  clipped: [below: boolean, above: boolean]
  number: string
  open: Cell | null
  /** Where null, layers L0, L1, …. */
  row_labels: string[] | null
  /** Where null, heads H0, H1, …. */
  column_labels: string[] | null
  /** Instead of the cells of a row, by its index. */
  notes: Record<string, string>
  /** In the cells, instead of numbers: a row each. */
  words: string[][] | null
  /** What a value is a share of. */
  whole: number | null
  max_height: number
  group: number
  group_axis: "rows" | "columns"
  /** The key of the part of the page that a choice changes, or "". */
  shows: string
  /** The number of the first column where columns are told by their numbers. */
  first_column: number
  texts: Texts
  palette: Palette
}

export type Cell = [row: number, column: number]

export interface Arrays {
  values: Floats
}

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
