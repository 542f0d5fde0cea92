// What chart.py packs.

import type { Life } from "../shared/types"

/** What stands inside the axes, and the names of its lines. */
export interface Drawn {
  svg: string
  legend: { name: string; color: number; dash: string }[]
}

/** A slider over charts. */
export interface Knob {
  label: string
  values: number[]
  at: number
  said: string[]
  frames: Drawn[]
  /** The values as they are written; none where as they are. */
  names: string[]
  /** SVG documents that stand below the chart, one for each value, or none. */
  pictures: string[]
}

export interface Meta extends Drawn {
  label: string
  below: string
  left: number
  right: number // px for the words after the longest bar
  height: number
  knob: Knob | null
}

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
