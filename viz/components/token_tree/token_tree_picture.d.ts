// What token_tree.py packs; python -m scripts.picture_types wrote this file.

import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"

export interface Meta {
  n_branches: number
  /** The id of the node that is highlighted with all tokens before it. */
  opened: string
  /** The id of the node of the film's open frame. */
  frame: string
  texts: Texts
  max_height: number
  /** Key of the page element that a click changes, to which a narrow page scrolls, or "". */
  shows: string
  palette: Palette
  /** Ids of the nodes, in order. */
  ids: string[]
  /** Their tokens. */
  labels: string[]
  /** How each was drawn. */
  chosen: (string | null)[]
  /** Names of branches, by the index of their last node. */
  names: Record<string, string[]>
}

export interface Arrays {
  /** [nodes]: -1 for the prompt. */
  parents: Ints
  /** [nodes]: from 0 downwards, halves allowed. */
  rows: Floats
  /** [nodes]: natural logarithms. */
  log_probs: Floats
  /** [nodes]: cumulative from the prompt on. */
  totals: Floats
  /** [nodes]: 1 if beam search dropped it. */
  dropped: Bytes
  /** [nodes]: 1 if the text ends there. */
  ended: Bytes
}
