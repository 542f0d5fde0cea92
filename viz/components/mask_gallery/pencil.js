// Hiding cells by hand: a stroke hides what it passes, or shows it again when it begins on a hidden cell.

// Whether a cell was painted and is hidden: a query that would see nothing keeps itself.
const isHidden = ({ hidden, given }, query, key) => hidden.has(`${query},${key}`) && !(query === key && given.has(query))
const cellsOf = (hidden) => [...hidden].map((cell) => cell.split(",").map(Number))

function beginStroke(state, event) {
  const cell = cellAt(state, event)
  if (!state.pencilOn || !cell || event.button) return
  state.canvas.setPointerCapture(event.pointerId)
  state.stroke = { hides: !state.hidden.has(String(cell)) }
  paintCell(state, cell)
  event.preventDefault()
}

function paintCell(state, cell) {
  const { hidden, stroke, meta, reached, n } = state
  const visible = cell[1] <= cell[0] || reached[cell[0] * n + cell[1]] === 1
  if (!stroke.hides) hidden.delete(String(cell))
  else if (visible && hidden.size < meta.most_hidden) hidden.add(String(cell))
  later(state)
}

function endStroke(state) {
  if (!state.stroke) return
  state.stroke = null
  setHidden(state, cellsOf(state.hidden))
}

function toggle(state, cell) {
  state.stroke = { hides: !state.hidden.has(String(cell)) }
  paintCell(state, cell)
  endStroke(state)
}

function setHidden(state, cells) {
  state.hidden = new Set(cells.map(String))
  chosen(state, "hidden", cells)
  state.tell("hidden", cells)
  later(state)
}
