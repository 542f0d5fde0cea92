// What layer_head_map.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  title: string
  scale: "signed" | "sequential"
  low: number
  high: number
  number: "percent" | "plain"
  /** The cell that is outlined. */
  open: [row: number, column: number] | null
  texts: Texts
  /** Where null, layers L0, L1, …. */
  row_labels: string[] | null
  /** Where null, heads H0, H1, …; labels are slanted where they do not fit. */
  column_labels: string[] | null
  /** By its index, what stands in a row that has no cells; it cannot be clicked. */
  notes: Record<string, string>
  /** [rows, columns] in the cells, which are wider for them, in the place of numbers; texts may use {word}. */
  words: string[][] | null
  /** What a value is a share of. */
  whole: number | null
  max_height: number
  group: number
  group_axis: "rows" | "columns"
  /** The key of the part of the page that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  /** The number of the first column where columns are told by their numbers. */
  first_column: number
  palette: Palette
  /** Whether values lie beyond the ends. */
  clipped: [below: boolean, above: boolean]
}

export interface Arrays {
  /** [rows, columns], NaN where there is none. */
  values: Floats
}
