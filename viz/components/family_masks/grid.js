// One small grid: a cell per pair of tokens, with the queries' tokens at its left where there is room.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch } from "../shared/hatch.js"
import { inRoom, pointIn } from "../shared/room.js"
import { css, rampColor } from "../shared/theme.js"
import { isolate } from "../shared/words.js"
/** @import { State } from "./types" */

const SIDE = 144 // the height of a grid
const LABEL = 10.5 // the minimum height of a cell for its token to be readable
const PART = 52 // the width of the names of two texts
const LARGEST = 18

// The colour of a visible cell: key at or before the query, after it, or across; the first, hidden, has none.
/** @param {State} state */
export function colorsOf({ theme }) {
  return [theme.background, rampColor(theme.sequential, 0.76), rampColor(theme.sequential, 0.42), theme.compare]
}

/** @param {State} state */
export function paintGrid(state, canvas, i) {
  const { meta, theme, cells } = state
  const { tokens, n_read: nRead } = meta.kinds[i]
  const [n, side] = [tokens.length, cells.shape[1]]
  const room = canvas.parentElement.clientWidth - 20
  const high = Math.min(inRoom(SIDE), Math.max(60, room - PART))
  const cell = Math.min(LARGEST, high / n)
  const grid = cell * n
  const wide = Math.max(grid + PART, Math.min(260, room))
  const left = Math.min(wide - grid, Math.max(PART, (wide - grid) / 2 + 20))
  const context = sizeCanvas(canvas, wide, high)
  const colors = colorsOf(state)
  const gap = cell > 4 ? 1 : cell > 2.5 ? 0.5 : 0
  context.fillStyle = hatch(context, theme)
  context.fillRect(left, 0, grid, grid)
  for (let at = 0; at < n * n; at++) {
    const [query, key] = [Math.floor(at / n), at % n]
    if (!cells[(i * side + query) * side + key]) continue
    context.fillStyle = css(colors[cells[(i * side + query) * side + key]])
    context.fillRect(left + key * cell, query * cell, cell - gap, cell - gap)
  }
  Object.assign(canvas.dataset, { left, cell })
  context.font = `11px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textAlign = "right"
  context.textBaseline = "middle"
  if (nRead) paintParts(context, state, { left, cell, n, nRead })
  else if (cell >= LABEL) {
    tokens.forEach((token, row) => {
      context.fillText(isolate(fitText(context, token, left - 6)), left - 5, (row + 0.5) * cell)
    })
  }
  const { hovered } = state
  if (!hovered || hovered.kind !== i) return
  context.strokeStyle = css(theme.text)
  context.lineWidth = 1.5
  context.strokeRect(left + hovered.key * cell, hovered.query * cell, cell - gap, cell - gap)
}

// Which rows belong to the source and which to the target; a line separates them.
function paintParts(context, { meta, theme }, { left, cell, n, nRead }) {
  const { texts } = meta
  context.fillText(fitText(context, texts.read, left - 6), left - 6, (nRead / 2) * cell)
  context.fillText(fitText(context, texts.written, left - 6), left - 6, ((nRead + n) / 2) * cell)
  context.fillStyle = css(theme.quiet)
  context.fillRect(left, nRead * cell - 0.75, n * cell, 1)
  context.fillRect(left + nRead * cell - 0.75, 0, 1, n * cell)
}

// The cell under a pointer, or null outside the grid.
export function cellUnder(canvas, event, n) {
  const { x, y } = pointIn(event, canvas)
  const cell = Number(canvas.dataset.cell)
  const [query, key] = [Math.floor(y / cell), Math.floor((x - Number(canvas.dataset.left)) / cell)]
  return query >= 0 && query < n && key >= 0 && key < n ? { query, key } : null
}
