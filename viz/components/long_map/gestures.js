// Pointer, wheel and keys become calls of the actions in `act`: hover(cell), pin(cell), look(view), zoom(factor), whole().
// A drag or a pinch moves the view; a press that does not move is a click.

import { focusedBeside } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { pointIn } from "../shared/room.js"
import { plainKey } from "../shared/shell.js"
import { isWhole, panned, zoomed } from "../shared/view.js"
import { cellOf, cellOn, keyOn, queryOn, sizeOf } from "./layout.js"

const SLOP = 5 // pixels a press may wander and still be a click

export function listen(state, act) {
  const { canvas } = state
  const down = new Map() // pointers, by id
  let start = /** @type {any} */ (null)
  const begin = () => (start = { points: [...down.values()], view: state.view, moved: start?.moved ?? false })
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return
    if (!down.size) start = null
    down.set(event.pointerId, pointIn(event, canvas))
    begin()
  })
  canvas.addEventListener("pointermove", (event) => {
    const point = pointIn(event, canvas)
    if (!down.has(event.pointerId)) return event.pointerType === "touch" ? null : act.hover(cellOn(state, point))
    down.set(event.pointerId, point)
    const from = start.points[0]
    if (!start.moved && (down.size > 1 || Math.hypot(point.x - from.x, point.y - from.y) > SLOP)) {
      start.moved = true
      canvas.setPointerCapture(event.pointerId)
      act.hover(null)
    }
    if (start.moved) act.look(movedView(state, start, [...down.values()]))
  })
  const end = (event) => {
    if (!down.delete(event.pointerId)) return
    if (down.size) return begin()
    if (event.type === "pointerup" && !start.moved) act.pin(cellOn(state, pointIn(event, canvas)) ?? state.selected)
  }
  canvas.addEventListener("pointerup", end)
  canvas.addEventListener("pointercancel", end)
  canvas.addEventListener("pointerleave", () => down.size || act.hover(null))
  canvas.addEventListener("wheel", (event) => onWheel(state, act, event), { passive: false })
  canvas.addEventListener("keydown", (event) => onKey(state, act, event))
}

// The view after the fingers (or the mouse) went from where they started to where they are.
function movedView(state, start, points) {
  const size = sizeOf(state)
  const middle = (list) => ({ x: list.reduce((sum, p) => sum + p.x, 0) / list.length, y: list.reduce((sum, p) => sum + p.y, 0) / list.length })
  const spread = (list) => Math.max(20, Math.hypot(list[0].x - list[1].x, list[0].y - list[1].y))
  const [from, to] = [middle(start.points), middle(points)]
  const factor = points.length > 1 && points.length === start.points.length ? spread(start.points) / spread(points) : 1
  const before = { ...state, view: start.view }
  const view = zoomed(start.view, size, factor, queryOn(before, from.y), keyOn(before, from.x))
  const cell = cellOf({ ...state, view })
  return panned(view, size, (from.y - to.y) / cell, (from.x - to.x) / cell)
}

// The wheel zooms with Ctrl, as everywhere, and without it once the map has the focus: else the page scrolls on.
function onWheel(state, act, event) {
  const { canvas, view } = state
  const size = sizeOf(state)
  if (!(event.ctrlKey || event.metaKey || focusedBeside(canvas) === canvas)) return
  if (event.deltaY > 0 && isWhole(view, size) && !event.ctrlKey) return
  event.preventDefault()
  const point = pointIn(event, canvas)
  const factor = Math.exp(clamp(event.deltaY * (event.deltaMode === 1 ? 16 : 1), -120, 120) * (event.ctrlKey ? 0.006 : 0.003))
  act.look(zoomed(view, size, factor, queryOn(state, point.y), keyOn(state, point.x)))
}

function onKey(state, act, event) {
  if (!plainKey(event)) return
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
  if (step) act.step(step)
  else if (event.key === "Enter") act.pin(state.hovered ?? state.selected)
  else if (event.key === "Escape") act.pin(null)
  else if (event.key === "+" || event.key === "=") act.zoom(1 / 1.5)
  else if (event.key === "-" || event.key === "_") act.zoom(1.5)
  else if (event.key === "0") act.whole()
  else return
  event.preventDefault()
}

// The small map: where it is pressed, the view goes.
export function listenMini(state, act) {
  const { mini } = state
  const go = (event) => {
    const { x, y } = pointIn(event, mini)
    const { view, meta } = state
    const [query, key] = [(y / mini.clientHeight) * meta.tokens, (x / mini.clientWidth) * meta.tokens]
    act.look(panned(view, sizeOf(state), query - (view.q0 + view.q1) / 2, key - (view.k0 + view.k1) / 2))
  }
  mini.addEventListener("pointerdown", (event) => {
    mini.setPointerCapture(event.pointerId)
    go(event)
  })
  mini.addEventListener("pointermove", (event) => event.buttons && go(event))
}
