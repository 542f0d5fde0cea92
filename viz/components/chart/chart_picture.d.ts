// What chart.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** What a screen reader says of it. */
  label: string
  knob: Slider | null
  /** The title of the axis below. */
  below: string
  /** px for the words before the axis. */
  left: number
  /** px for the words after the longest bar, or for the names of lines, wherever the slider stands. */
  right: number
  /** px */
  height: number
  /** What stands inside the axes. */
  svg: string
  /** The names of its lines, where they do not stand at their ends. */
  legend: LegendLine[]
}

/** Its places, each with the chart that belongs there and what is said of it; `at` is one of `values`. */
export interface Slider {
  label: string
  values: number[]
  at: number
  said: string[]
  /** The values as they are written; none where as they are. */
  names: string[]
  /** An SVG document for each value, which stands below the chart and is described by what is said; or none. */
  pictures: string[]
  /** The charts as they are drawn. */
  frames: ChartDrawing[]
}

/** What stands inside the axes, and the names of its lines. */
export interface ChartDrawing {
  svg: string
  legend: LegendLine[]
}

/** A line's name, and how it is drawn. */
export interface LegendLine {
  name: string
  color: number
  dash: string
}
