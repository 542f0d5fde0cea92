// What model_strip.py packs.

import type { Life, Texts } from "../shared/types"

export interface Kind {
  /** [heads, heads that share a key and value head] of each attention of the row; null: no weights. */
  attentions: ([number, number] | null)[]
  /** 0: a plain feed-forward part; -1: none. */
  experts: number
}

export interface LayerRow {
  attentions: string[]
  before: string[]
  after: string[]
  kinds: Kind[]
  /** Of each layer the number of its kind. */
  layers: number[]
}

/** Layer, head, attention. */
export type Place = [number, number, string]

export interface Meta {
  rows: LayerRow[]
  open: Place
  lit: string[]
  picks: "here" | "layers" | "heads"
  links: string[]
  /** [attention, layer, head], -1 for all. */
  changed: [string, number, number][]
  layer_names: Record<string, string>
  head_names: string[]
  texts: Texts
}

export interface Box {
  left: number
  width: number
  /** Whether there is room for the heads of the layer. */
  wide: boolean
}

export interface RowLayout {
  top: number
  /** Of the box of a layer. */
  height: number
  /** Pixels of a layer's box before its heads. */
  inset: number
  parts: { name: string; left: number; width: number }[]
  boxes: Box[]
  right: number
}

export interface Layout {
  width: number
  height: number
  rows: RowLayout[]
}

export interface State extends Life {
  meta: Meta
  place: Place
  hovered: Place | null
  layout: Layout
  narrow: boolean
  opened: boolean
}
