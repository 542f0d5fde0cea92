// What token_tree.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  n_branches: number
  /** The id of the node that is emphasised with all tokens before it. */
  opened: string
  /** The id of the node whose frame of the film is in view. */
  frame: string
  texts: Texts
  max_height: number
  /** The key of the part of the page that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
  /** Of the nodes, in their order. */
  ids: string[]
  /** Their tokens. */
  labels: string[]
  /** How each was drawn. */
  chosen: (string | null)[]
  /** Names of branches, by the index of the node they end in. */
  names: Record<string, string[]>
}

export interface Arrays {
  /** [nodes]: -1 for the prompt. */
  parents: Ints
  /** [nodes]: from 0 down, halves allowed. */
  rows: Floats
  /** [nodes]: natural logarithms. */
  log_probs: Floats
  /** [nodes]: the same from the prompt on. */
  totals: Floats
  /** [nodes]: 1 where beam search dropped it. */
  dropped: Bytes
  /** [nodes]: 1 where the text ends. */
  ended: Bytes
}
