// What model_stages.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  rows: StageRow[]
  /** Headings of names, shapes, sizes and strips. */
  columns: string[]
  texts: Texts
  max_height: number
  palette: Palette
}

export interface Arrays {
  /** [rows, d], each scaled to its own maximum; NaN for none. */
  vectors: Floats
}

/** A stage. */
export interface StageRow {
  /** Selects its symbol. */
  kind: "stage" | "block" | "norm" | "part" | "sum"
  title: string
  module: string
  shapes: string
  size: string
  /** 1 is a full bar. */
  share: number | null
  length: string
  /** 1 is inside the open block. */
  depth: number
  /** What a click sends; null: nothing. */
  block: number | null
  open: boolean
}
