// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Arrays, Meta } from "./head_bars_picture"

export * from "./head_bars_picture"

export interface State extends Life {
  meta: Meta
  arrays: Arrays
  selected: [number, number]
  list: HTMLElement
  rest: HTMLElement
  /** The row that the keyboard is on. */
  focused: number | null
}
