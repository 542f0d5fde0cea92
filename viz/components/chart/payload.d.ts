// What chart.py packs.

import type { Life } from "../shared/types"

export interface Meta {
  svg: string
  label: string
  legend: { name: string; color: number; dash: string }[]
  below: string
  left: number
  height: number
}

export interface State extends Life {
  legend: HTMLElement
  plot: HTMLElement
  below: HTMLElement
}
