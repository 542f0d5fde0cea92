// What mask_gallery.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  names: string[]
  labels: string[]
  selected: string
  tokens: string[]
  n_layers: number
  /** How many of them are drawn. */
  shown: number
  query: number | null
  /** Cells hidden by hand. */
  hidden: [query: number, key: number][]
  /** Queries that see themselves because they would see nothing. */
  given: number[]
  most_hidden: number
  note: string
  texts: Texts
  /** Whether keys after the query are the future, as they are not to an encoder. */
  causal: boolean
  max_height: number
  palette: Palette
}

export interface Arrays {
  /** [patterns, n, n]: 0 hidden to 200 kept, 255 the future, 251 to 253 the regions of an index map. */
  small: Bytes
  /** [queries, keys]: the layer by which a query has heard of a key, 0 for never. */
  reached: Bytes
  /** [queries, keys]: how far back each key seems to be. */
  distance?: Ints
  /** [queries, keys]: which region each key is of. */
  region?: Bytes
}
