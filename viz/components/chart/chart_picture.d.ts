// What chart.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** Description for screen readers. */
  label: string
  knob: Slider | null
  /** The title of the axis below. */
  below: string
  /** px for the words before the axis. */
  left: number
  /** px for the words after the longest bar or for line names, at any position of the slider. */
  right: number
  /** px */
  height: number
  /** What is inside the axes. */
  svg: string
  /** Names of its lines, if they are not at their ends. */
  legend: LegendLine[]
}

/** Positions with the chart and the text of each; `at` is one of `values`. */
export interface Slider {
  label: string
  values: number[]
  at: number
  said: string[]
  /** The labels of the values; empty to use the values themselves. */
  names: string[]
  /** An SVG document per value, shown below the chart and described by the text; or empty. */
  pictures: string[]
  /** The charts as drawn. */
  frames: ChartDrawing[]
}

/** What is inside the axes, and the names of its lines. */
export interface ChartDrawing {
  svg: string
  legend: LegendLine[]
}

/** A line's name and style. */
export interface LegendLine {
  name: string
  color: number
  dash: string
}
