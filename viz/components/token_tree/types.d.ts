// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Arrays, Meta } from "./token_tree_picture"

export * from "./token_tree_picture"

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
