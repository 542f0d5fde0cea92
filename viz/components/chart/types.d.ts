// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./chart_picture"

export * from "./chart_picture"

export interface State extends Life {
  legend: HTMLElement
  plot: HTMLElement
  below: HTMLElement
  slide: HTMLInputElement
  slideRow: HTMLElement
  slideName: HTMLElement
  slideValue: HTMLElement
  said: HTMLElement
  picture: HTMLElement
  meta: Meta
  at: number
  /** Each chart of the slider once it was drawn, by its place. */
  kept: Map<number, Node>
  /** The same of the pictures. */
  pictures: Map<number, Node>
  /** The timer until the host is told. */
  turning: number
}
