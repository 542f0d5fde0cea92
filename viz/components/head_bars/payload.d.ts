// What head_bars.py packs.

import type { Floats, Life, Palette, Texts } from "../shared/types"

export interface Meta {
  /** [layer, head], best first. */
  heads: [number, number][]
  total: number
  most_left: number
  selected: [number, number]
  /** Of the open head among all, from 1; null where it is not ranked. */
  place: number | null
  /** That of the open head. */
  value: number
  /** The key of the part of the page that a choice changes, or "". */
  shows: string
  texts: Texts
  palette: Palette
}

export interface Arrays {
  values: Floats
}

export interface State extends Life {
  meta: Meta
  arrays: Arrays
  selected: [number, number]
  list: HTMLElement
  rest: HTMLElement
  /** The row that the keyboard is on. */
  focused: number | null
}
