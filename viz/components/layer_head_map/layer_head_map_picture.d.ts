// What layer_head_map.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  title: string
  scale: "signed" | "sequential"
  low: number
  high: number
  number: "percent" | "plain"
  /** The outlined cell. */
  open: [row: number, column: number] | null
  texts: Texts
  /** null for layers L0, L1, …. */
  row_labels: string[] | null
  /** null for heads H0, H1, …; labels are slanted if they do not fit. */
  column_labels: string[] | null
  /** By row index, the text of a row without cells; it cannot be clicked. */
  notes: Record<string, string>
  /** [rows, columns]: words shown in the cells, which are then wider, instead of numbers; texts may use {word}. */
  words: string[][] | null
  /** What a value is a share of. */
  whole: number | null
  max_height: number
  group: number
  group_axis: "rows" | "columns"
  /** Key of the page element that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  /** Number of the first column, if columns are identified by number. */
  first_column: number
  palette: Palette
  /** Whether values lie beyond the ends. */
  clipped: [below: boolean, above: boolean]
}

export interface Arrays {
  /** [rows, columns], NaN where undefined. */
  values: Floats
}
