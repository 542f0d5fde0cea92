// Choose the width of a cell so that all tables of the step fit side by side or, on a phone, one of them.

import { clamp } from "../shared/numbers.js"

const [NAMES, OPERATOR, NARROWEST] = [96, 52, 32] // pixels: row names, an operator with its margins, the smallest cell with tables side by side

export function fit(state) {
  const names = state.views.map((view) => Math.min(NAMES, 10 + 7.5 * Math.max(...view.names.map((name) => name.length))))
  const counts = state.views.map((view) => view.cells[0].length + (view.cells[0].length + 4) / 40) // including the lines between the cells
  const width = state.root.clientWidth
  const sum = (values) => values.reduce((all, one) => all + one, 0)
  const beside = (width - sum(names) - (names.length - 1) * OPERATOR) / sum(counts)
  const alone = Math.min(...names.map((name, i) => (width - name) / counts[i]))
  const cell = Math.floor(clamp(beside >= NARROWEST ? beside : Math.min(alone, 46), 24, 66))
  state.root.style.setProperty("--cell", `${cell}px`)
  state.root.style.setProperty("--digits", `${clamp(cell * 0.31, 9, 15)}px`)
}
