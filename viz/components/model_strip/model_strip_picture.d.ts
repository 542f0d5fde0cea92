// What model_strip.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  rows: LayerRow[]
  open: [layer: number, head: number, attention: string]
  lit: string[]
  /** Heads open on this page; layers without heads too; heads open on the page Heads. */
  picks: "here" | "layers" | "heads"
  texts: Texts
  /** Parts that have a page. */
  links: string[]
  /** What an edit changes, -1 for all. */
  changed: [attention: string, layer: number, head: number][]
  /** Names of layers that are not called L3. */
  layer_names: Record<string, string>
  /** Names of the open layer's heads, if they say more than a number and the shared keys. */
  head_names: string[]
}

/** One stack: the names of its layers' attentions, and the parts before and after it. */
export interface LayerRow {
  attentions: string[]
  before: string[]
  after: string[]
  kinds: LayerKind[]
  /** The index of each layer's kind. */
  layers: number[]
}

/** Layers of the same kind. */
export interface LayerKind {
  /** For each attention in the row: its heads, and how many share a key/value head; null: no weights. */
  attentions: ([heads: number, group: number] | null)[]
  /** Number of experts in its feed-forward network; 0: a dense one; -1: none. */
  experts: number
}
