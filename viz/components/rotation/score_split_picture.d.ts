// What score_split.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  head: string
  query: [label: string, position: number]
  key: number
  labels: string[]
  n_rest: number
  softcap: number | null
  /** Names of the terms that were left out. */
  note: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  positions: Ints
  theta: Floats
  /** [pairs, keys] */
  contributions: Floats
  /** [keys]: what the `n_rest` dimensions outside the pairs add. */
  rest: Floats
  /** [keys]: 1 for visible keys. */
  keep: Bytes
}
