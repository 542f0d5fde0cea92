// What its scripts keep, beside what they are sent.

import type { Floats, Life } from "../shared/types"
import type { Meta } from "./model_stages_picture"

export * from "./model_stages_picture"

export interface State extends Life {
  meta: Meta
  vectors: Floats
  canvases: HTMLCanvasElement[]
  list: HTMLElement
  mark: HTMLElement
  tip: HTMLElement
  /** What is looked at; a dimension where it is in a strip. */
  at: { row: number; dimension: number | null } | null
}
