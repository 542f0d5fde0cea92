// What chart.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  label: string
  below: string
  left: number
  /** px for the words after the longest bar */
  right: number
  height: number
  svg: string
  legend: LegendLine[]
  knob: DrawnSlider | null
}

/** A line's name, and how it is drawn. */
export interface LegendLine {
  name: string
  color: number
  dash: string
}

/** A slider over charts that are drawn. */
export interface DrawnSlider {
  label: string
  values: number[]
  at: number
  said: string[]
  frames: ChartDrawing[]
  names: string[]
  pictures: string[]
}

/** What stands inside the axes, and the names of its lines. */
export interface ChartDrawing {
  svg: string
  legend: LegendLine[]
}
