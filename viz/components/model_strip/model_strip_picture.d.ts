// What model_strip.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  rows: LayerRow[]
  open: [layer: number, head: number, attention: string]
  lit: string[]
  /** Heads that open on this page; layers too that have none; heads that open on Heads. */
  picks: "here" | "layers" | "heads"
  texts: Texts
  /** Parts that have a page. */
  links: string[]
  /** What an edit changes, -1 for all of them. */
  changed: [attention: string, layer: number, head: number][]
  /** Of layers that are called otherwise than L3. */
  layer_names: Record<string, string>
  /** Those of the open layer, where they say more than a head's number and whose keys it shares. */
  head_names: string[]
}

/** One stack: the names of its layers' attentions, its parts before and after. */
export interface LayerRow {
  attentions: string[]
  before: string[]
  after: string[]
  kinds: LayerKind[]
  /** Of each layer the number of its kind. */
  layers: number[]
}

/** Layers of one make. */
export interface LayerKind {
  /** Of each attention of the row: its heads, and how many share a key and value head; null: no weights. */
  attentions: ([heads: number, group: number] | null)[]
  /** How many its feed-forward part has; 0: a plain one; -1: it has no such part. */
  experts: number
}
