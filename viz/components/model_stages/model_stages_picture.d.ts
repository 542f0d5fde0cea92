// What model_stages.py packs; python -m scripts.picture_types wrote this file.

import type { Floats, Palette, Texts } from "../shared/types"

export interface Meta {
  rows: StageRow[]
  /** Headings: of names, shapes, sizes and strips. */
  columns: string[]
  texts: Texts
  max_height: number
  palette: Palette
}

export interface Arrays {
  /** [rows, d], each drawn to its own largest number; NaN as none. */
  vectors: Floats
}

/** A stage. */
export interface StageRow {
  /** Gives its mark. */
  kind: "stage" | "block" | "norm" | "part" | "sum"
  title: string
  module: string
  shapes: string
  size: string
  /** 1 is a full bar. */
  share: number | null
  length: string
  /** 1 stands inside the open block. */
  depth: number
  /** What a click tells; null: nothing. */
  block: number | null
  open: boolean
}
