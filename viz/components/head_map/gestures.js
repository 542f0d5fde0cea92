// Translate pointer, wheel and keyboard events to actions in `act`: hover(cell), pin(cell, wait), look(view),
// zoom(factor) and reset(). A drag or a pinch moves the view; a press that does not move is a click.

import { focusedBeside } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { mayChoose } from "../shared/follow.js"
import { pointIn } from "../shared/room.js"
import { plainKey } from "../shared/shell.js"
import { keyAt, pixelOf, queryAt } from "./layout.js"
import { isWhole, panned, zoomed } from "../shared/view.js"

/** @typedef {{ x: number, y: number }} Point */
/** @import { State } from "./types" */

const CLICK_SLOP = 5 // pixels that a click may move

export function listen(state, act) {
  const { canvas } = state
  const touches = new Map() // pointers that are down, by id
  /** @type {{ points: Point[], view: any, moved: boolean, at: Point } | null} */
  let start = null
  const place = (event) => pointIn(event, canvas)
  const begin = () => {
    const points = [...touches.values()]
    start = { points, view: state.view, moved: start?.moved ?? false, at: points[0] }
  }
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return
    touches.set(event.pointerId, place(event))
    if (touches.size === 1) start = null
    if (touches.size === 2) canvas.setPointerCapture(event.pointerId)
    begin()
  })
  canvas.addEventListener("pointermove", (event) => {
    const point = place(event)
    if (!touches.has(event.pointerId)) return event.pointerType === "touch" ? null : act.hover(cellAt(state, point))
    touches.set(event.pointerId, point)
    if (!start) return
    const far = touches.size > 1 || Math.hypot(point.x - start.at.x, point.y - start.at.y) > CLICK_SLOP
    if (!start.moved && far) {
      start.moved = true
      if (canvas.isConnected) canvas.setPointerCapture(event.pointerId)
      act.hover(null)
    }
    if (start.moved) act.look(movedView(state, start, [...touches.values()]))
  })
  const end = (event) => {
    if (!touches.delete(event.pointerId)) return
    if (touches.size) return begin()
    state.root.dataset.panning = "false"
    if (event.type === "pointerup" && !start?.moved) press(state, act, place(event), event)
  }
  canvas.addEventListener("pointerup", end)
  canvas.addEventListener("pointercancel", end)
  canvas.addEventListener("pointerleave", () => touches.size || act.hover(null))
  canvas.addEventListener("wheel", (event) => onWheel(state, act, event, place(event)), { passive: false })
  canvas.addEventListener("keydown", (event) => onKey(state, act, event))
}

// The view after the fingers or the mouse moved from their start to their current points.
/** @param {State} state */
function movedView(state, start, points) {
  const { layout, meta } = state
  const unitsX = (start.view.k1 - start.view.k0) / layout.plot.width
  const unitsY = (start.view.q1 - start.view.q0) / layout.plot.height
  const center = (list) => ({ x: list.reduce((sum, p) => sum + p.x, 0) / list.length, y: list.reduce((sum, p) => sum + p.y, 0) / list.length })
  const [from, to] = [center(start.points), center(points)]
  const spread = (list) => (list.length > 1 ? Math.max(20, Math.hypot(list[0].x - list[1].x, list[0].y - list[1].y)) : 1)
  const query = start.view.q0 + (from.y - layout.plot.y) * unitsY
  const key = start.view.k0 + (from.x - layout.plot.x) * unitsX
  const factor = points.length === start.points.length ? spread(start.points) / spread(points) : 1
  const view = zoomed(start.view, meta.total, factor, query, key)
  const scaleX = (view.k1 - view.k0) / layout.plot.width
  const scaleY = (view.q1 - view.q0) / layout.plot.height
  state.root.dataset.panning = "true"
  return panned(view, meta.total, (from.y - to.y) * scaleY, (from.x - to.x) * scaleX)
}

// A click on a cell pins it. A click on a query's label pins only the row; on a key's label, the column in the pinned
// row.
/** @param {State} state */
function press(state, act, point, event) {
  const { plot } = state.layout
  const query = Math.floor(queryAt(state, point.y))
  const key = Math.floor(keyAt(state, point.x))
  const [inRows, inColumns] = [point.y >= plot.y && point.y < plot.y + plot.height, point.x >= plot.x && point.x < plot.x + plot.width]
  if (inRows && inColumns) {
    const cell = cellAt(state, point)
    if (!cell) return
    act.pin(centre(state.meta, cell), 0)
    if (event.pointerType === "touch") act.hover(cell, true)
  } else if (inRows && point.x < plot.x) act.pin([query, null], 0)
  else if (inColumns && point.y < plot.y && state.selected) act.pin([state.selected[0], key], 0)
}

// The unit [query, key] under a point of the plot, if it lies in the tile that is drawn; else null.
/** @param {State} state */
function cellAt(state, { x, y }) {
  const { plot } = state.layout
  if (x < plot.x || y < plot.y || x >= plot.x + plot.width || y >= plot.y + plot.height) return null
  const [query, key] = [Math.floor(queryAt(state, y)), Math.floor(keyAt(state, x))]
  const [q0, q1, k0, k1] = state.meta.window
  return query < q0 || query >= q1 || key < k0 || key >= k1 ? null : [query, key]
}

const centre = (meta, cell) => cell.map((unit, axis) => Math.floor(pixelOf(meta, axis, unit).reduce((a, b) => a + b) / 2))

/** @param {State} state */
function onWheel(state, act, event, point) {
  const { canvas, view, meta } = state
  const focused = focusedBeside(canvas) === canvas
  if (!(event.ctrlKey || event.metaKey || focused) || !state.zoomable) return
  if (event.deltaY > 0 && isWhole(view, meta.total) && !event.ctrlKey) return // let the page scroll on
  event.preventDefault()
  const lines = event.deltaMode === 1 ? 16 : 1
  const factor = Math.exp(clamp(event.deltaY * lines, -120, 120) * (event.ctrlKey ? 0.006 : 0.003))
  act.look(zoomed(view, meta.total, factor, queryAt(state, point.y), keyAt(state, point.x)))
}

/** @param {State} state */
function onKey(state, act, event) {
  if (!plainKey(event)) return
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
  if (step) act.pin(movedPin(state, step), 150) // debounced while a key is held
  else if (event.key === "Enter") act.pin(state.hovered ? centre(state.meta, state.hovered) : state.selected, 0)
  else if (event.key === "Escape") act.pin(null, 0)
  else if (state.zoomable && (event.key === "+" || event.key === "=")) act.zoom(1 / 1.5)
  else if (state.zoomable && (event.key === "-" || event.key === "_")) act.zoom(1.5)
  else if (state.zoomable && event.key === "0") act.reset()
  else return
  event.preventDefault()
}

// The cell one pixel from the pinned one; without a pin, the last query in view and the key that it attends to most.
/** @param {State} state */
function movedPin(state, [down, right]) {
  const { meta } = state
  const selected = mayChoose(state) ? state.selected : (state.hovered ?? state.selected)
  if (!selected) return strongest(state, Math.min(Math.ceil(state.view.q1), meta.window[1]) - 1)
  if (selected[1] === null && right) return strongest(state, selected[0])
  const [query, key] = selected
  return [
    clamp(query + down * meta.pool[0], 0, meta.total[0] - 1),
    key === null ? null : clamp(key + right * meta.pool[1], 0, meta.total[1] - 1),
  ]
}

// The query with the key that it attends to most.
/** @param {State} state */
export function strongest({ meta, values }, query) {
  const [rows, columns] = values.shape
  const row = clamp(Math.floor((query - meta.window[0]) / meta.pool[0]), 0, rows - 1)
  let best = 0
  for (let i = 1; i < columns; i++) {
    const [value, most] = [values[row * columns + i], values[row * columns + best]]
    if (value > most || most !== most) best = i
  }
  return [query, Math.min(meta.window[2] + best * meta.pool[1] + (meta.pool[1] >> 1), meta.total[1] - 1)]
}
