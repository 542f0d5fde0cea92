// What mask_gallery.py packs.

import type { Bytes, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  names: string[]
  labels: string[]
  selected: string
  tokens: string[]
  n_layers: number
  shown: number
  query: number | null
  /** Cells hidden by hand. */
  hidden: [query: number, key: number][]
  /** Queries that see themselves because they would see nothing. */
  given: number[]
  most_hidden: number
  note: string
  /** Whether keys after the query are the future, as they are not to an encoder. */
  causal: boolean
  max_height: number
  texts: Texts
  palette: Palette
}

export interface Arrays {
  /** [patterns, n, n]: shares 0..200, regions 251.., the future 255 */
  small: Bytes
  /** [queries, keys]: the layer by which a query has heard of a key, 0 for never */
  reached: Bytes
  distance?: Ints
  region?: Bytes
}

export interface State extends Life {
  meta: Meta
  small: Bytes
  reached: Bytes
  distance: Ints | null
  region: Bytes | null
  n: number
  hidden: Set<string>
  given: Set<number>
  hovered: [query: number, key: number] | null
}
