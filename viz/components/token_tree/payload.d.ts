// What token_tree.py packs.

import type { Bytes, Floats, Ints, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  ids: string[]
  labels: string[]
  chosen: (string | null)[]
  /** Names of branches, by the index of the node they end in. */
  names: Record<string, string[]>
  opened: string
  /** The id of the node whose frame of the film is in view. */
  frame: string
  n_branches: number
  max_height: number
  /** The key of the part of the page that a choice changes, or "". */
  shows: string
  texts: Texts
  palette: Palette
}

export interface Node {
  i: number
  id: string
  label: string
  chosen: string | null
  names: string[]
  parent: Node | null
  children: Node[]
  depth: number
  row: number
  logProb: number
  total: number
  dropped: boolean
  ended: boolean
}

export interface Arrays {
  parents: Ints
  rows: Floats
  log_probs: Floats
  totals: Floats
  dropped: Bytes
  ended: Bytes
}

/** What follow.js carries; nodes by their places in `ids`. */
export interface Told {
  /** Which tree it is of. */
  of: string
  opened: number
  hover?: number
  focused?: number
  expanded: number[]
}

export interface State extends Life {
  meta: Meta
  at: any
  scroller: any
  arrays: Arrays
  nodes: Node[]
  openNode: Node
  hover: Node | null
  focused: Node | null
  /** Where the last click was. */
  clicked: string
  expanded: Set<string>
}
