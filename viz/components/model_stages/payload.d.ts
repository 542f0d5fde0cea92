// What model_stages.py packs.

import type { Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  rows: Row[]
  /** Headings: of names, shapes, sizes and strips. */
  columns: string[]
  max_height: number
  texts: Texts
  palette: Palette
}

export interface Row {
  kind: string
  title: string
  module: string
  shapes: string
  size: string
  share: number | null
  length: string
  depth: number
  /** What a click tells; null: nothing. */
  block: number | null
  open: boolean
}

export interface Arrays {
  vectors: Floats
}

export interface State extends Life {
  meta: Meta
  vectors: Floats
  canvases: HTMLCanvasElement[]
  list: HTMLElement
  mark: HTMLElement
  tip: HTMLElement
  /** What is looked at; a dimension where it is in a strip. */
  at: { row: number; dimension: number | null } | null
}
