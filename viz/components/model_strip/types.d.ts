// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./model_strip_picture"

export * from "./model_strip_picture"

/** Layer, head, attention. */
export type Place = [number, number, string]

export interface Box {
  left: number
  width: number
  /** Whether there is room for the heads of the layer. */
  wide: boolean
}

export interface RowLayout {
  top: number
  /** Of the box of a layer. */
  height: number
  /** Pixels of a layer's box before its heads. */
  inset: number
  parts: { name: string; left: number; width: number }[]
  boxes: Box[]
  right: number
}

export interface Layout {
  width: number
  height: number
  rows: RowLayout[]
}

export interface State extends Life {
  meta: Meta
  place: Place
  hovered: Place | null
  layout: Layout
  narrow: boolean
  opened: boolean
}
