// A canvas of cells in a scrolling box. One cell is chosen, by a click or, when the canvas has the focus, the arrow
// keys.
//
// A component describes its cells with an object: {choice: the name of the chosen cell in its state and in its choices;
// hit(state, x, y): the cell under a point of the sheet, or null; neighbour(state, [down, right]): the next cell that
// can be chosen; boxOf(state, cell): its edges without the labels before it, or null; describe(state, cell);
// refresh(state)}.

import { chosen } from "./choice.js"
import { element } from "./dom.js"
import { mayChoose, pointed } from "./follow.js"
import { bringIntoView, partOf } from "./in_view.js"
import { inRoom, pointIn } from "./room.js"
import { plainKey, tell } from "./shell.js"
/** @import { Cells, Life } from "./types" */

const BAR = 12 // pixels of a scroll bar
const FIRST = 120 // milliseconds: a choice is sent to the host after at most this wait for its preview
const RESTS = 150 // milliseconds by which arrow keys are debounced

/** @type {Record<string, [down: number, right: number]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

export function makeSheet() {
  const canvas = element("canvas", { tabIndex: 0, role: "img" })
  const sheet = element("div", { className: "sheet" }, canvas)
  return { canvas, sheet, scroller: element("div", { className: "scroller" }, sheet) }
}

// Lay out the cells with `layOut` for the current width, and size the box up to its maximum height.
/** @type {<Layout extends { width: number, height: number }>(state: Life, layOut: (width: number) => Layout) => Layout} */
export function fitSheet(state, layOut) {
  const { root, meta, sheet, scroller } = state
  const whole = layOut(root.clientWidth)
  const most = inRoom(meta.max_height)
  const tall = whole.height > most + 0.5
  const layout = tall ? layOut(root.clientWidth - BAR) : whole
  state.viewWidth = root.clientWidth - (tall ? BAR : 0)
  state.viewHeight = Math.min(layout.height, most)
  Object.assign(scroller.style, {
    height: `${Math.ceil(state.viewHeight)}px`,
    overflowX: layout.width > state.viewWidth ? "auto" : "hidden",
    overflowY: tall ? "auto" : "hidden",
  })
  Object.assign(sheet.style, { width: `${layout.width}px`, height: `${layout.height}px` })
  return layout
}

/** @type {(state: any, cells: Cells) => void} */
export function listenToCells(state, cells) {
  const { canvas, scroller } = state
  const under = (event) => {
    const { x, y } = pointIn(event, canvas)
    return cells.hit(state, x + scroller.scrollLeft, y + scroller.scrollTop)
  }
  const hover = (found) => {
    if (String(found) === String(state.hovered)) return
    state.hovered = found
    canvas.style.cursor = found && mayChoose(state) ? "pointer" : "default"
    if (found) state.announce(cells.describe(state, found))
    cells.refresh(state)
    tellPointed(state, cells)
  }
  canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && hover(under(event)))
  canvas.addEventListener("pointerleave", () => hover(null))
  canvas.addEventListener("click", (event) => {
    const found = under(event)
    if (!mayChoose(state)) hover(found) // a touch screen has no hover
    else if (found) choose(state, cells, found, 0)
  })
  canvas.addEventListener("keydown", (event) => onKey(state, cells, event))
  scroller.addEventListener("scroll", () => cells.refresh(state), { passive: true })
}

/** @type {(state: any, cells: Cells, event: KeyboardEvent) => void} */
function onKey(state, cells, event) {
  if (!plainKey(event)) return
  const step = STEPS[event.key]
  const now = state[cells.choice]
  if (event.key !== "Escape" && !mayChoose(state)) return
  if (event.key === "Enter" && now) choose(state, cells, now, 0)
  else if (event.key === "Escape") {
    state.hovered = null
    cells.refresh(state)
  } else if (step) {
    const next = cells.neighbour(state, step)
    if (next) choose(state, cells, next, RESTS)
  } else return
  event.preventDefault()
}

// Draw the choice at once and send it to the host after `wait` milliseconds.
/** @type {(state: any, cells: Cells, cell: number[], wait: number) => void} */
function choose(state, cells, cell, wait) {
  Object.assign(state, { [cells.choice]: cell, hovered: null })
  chosen(state, cells.choice, cell)
  tellAfter(state, tellPointed(state, cells), cell, wait)
  if (!wait) bringIntoView(partOf(state.meta.shows)) // arrow keys browse: do not scroll away from the map of heads
  keepInSight(state, cells)
  state.announce(cells.describe(state, cell))
  cells.refresh(state)
}

// Wait briefly for the preview before sending the choice: the page run that follows keeps the browser busy.
/** @type {(state: any, first: Promise<void> | undefined, cell: number[], wait: number) => Promise<void>} */
async function tellAfter(state, first, cell, wait) {
  const mine = (state.choosing = {})
  if (first && !wait) await Promise.race([first, new Promise((pass) => setTimeout(pass, FIRST))])
  if (state.choosing === mine && state.root.isConnected) tell(state, "head", cell, wait)
}

/** @type {(state: any, cells: Cells) => Promise<void> | undefined} */
const tellPointed = (state, cells) => pointed(state, { chosen: state[cells.choice], hovered: state.hovered })

// Show the cell that another user chose or points at in the same sheet.
/** @type {(state: any, cells: Cells, at: { chosen: number[] | null, hovered: number[] | null }) => void} */
export function followCells(state, cells, at) {
  const there = (cell) => cell && cells.boxOf(state, cell) && cell
  if (there(at.chosen)) {
    state[cells.choice] = at.chosen
    chosen(state, cells.choice, at.chosen)
    showChosen(state, cells)
  }
  state.hovered = there(at.hovered)
  cells.refresh(state)
}

// Scroll to the chosen cell, only once for each choice, so that the reader can scroll away from it.
/** @type {(state: any, cells: Cells) => void} */
export function showChosen(state, cells) {
  if (state[cells.choice] && state.kept !== String(state[cells.choice])) keepInSight(state, cells)
}

/** @type {(state: any, cells: Cells) => void} */
function keepInSight(state, cells) {
  const { scroller, viewWidth, viewHeight } = state
  const cell = state[cells.choice]
  state.kept = String(cell)
  const box = cells.boxOf(state, cell)
  if (!box) return
  if (box.top < scroller.scrollTop) scroller.scrollTop = box.top
  else if (box.bottom > scroller.scrollTop + viewHeight) scroller.scrollTop = box.bottom - viewHeight
  if (box.left < scroller.scrollLeft) scroller.scrollLeft = box.left
  else if (box.right > scroller.scrollLeft + viewWidth) scroller.scrollLeft = box.right - viewWidth
}
