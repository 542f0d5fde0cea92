// How wide a cell is: as there is room for all tables of the stage beside one another, or for one of them on a phone.

import { clamp } from "../shared/numbers.js"

const [NAMES, OPERATOR, NARROWEST] = [96, 52, 32] // pixels: names of rows, a sign with its room, a cell beside others

export function fit(state) {
  const names = state.views.map((view) => Math.min(NAMES, 10 + 7.5 * Math.max(...view.names.map((name) => name.length))))
  const counts = state.views.map((view) => view.cells[0].length + (view.cells[0].length + 4) / 40) // with the lines between
  const width = state.root.clientWidth
  const sum = (values) => values.reduce((all, one) => all + one, 0)
  const beside = (width - sum(names) - (names.length - 1) * OPERATOR) / sum(counts)
  const alone = Math.min(...names.map((name, i) => (width - name) / counts[i]))
  const cell = Math.floor(clamp(beside >= NARROWEST ? beside : Math.min(alone, 46), 24, 66))
  state.root.style.setProperty("--cell", `${cell}px`)
  state.root.style.setProperty("--digits", `${clamp(cell * 0.31, 9, 15)}px`)
}
