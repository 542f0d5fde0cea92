// What mask_gallery.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  names: string[]
  labels: string[]
  selected: string
  tokens: string[]
  n_layers: number
  /** Number of layers drawn. */
  shown: number
  query: number | null
  /** Cells hidden by hand. */
  hidden: [query: number, key: number][]
  /** Queries that keep themselves because nothing else is left. */
  given: number[]
  most_hidden: number
  note: string
  texts: Texts
  /** Whether keys after the query are the future; they are not for an encoder. */
  causal: boolean
  max_height: number
  palette: Palette
}

export interface Arrays {
  /** [patterns, n, n]: 0 hidden to 200 kept, 255 the future, 251 to 253 the regions of an index map. */
  small: Bytes
  /** [queries, keys]: the layer after which information from a key reaches the query, 0 for never. */
  reached: Bytes
  /** [queries, keys]: the apparent distance of each key. */
  distance?: Ints
  /** [queries, keys]: each key's region. */
  region?: Bytes
}
