// Plays the query's steps, from the two vectors to the next token: one step at a time, with each result moving to where
// the next step uses it. With reduced motion, the steps change without movement. The host is told where the walk stops.

import { chosen } from "../shared/choice.js"
import { element, svg } from "../shared/dom.js"
import { pointIn } from "../shared/room.js"
import { fill } from "../shared/words.js"
/** @import { State } from "./types" */

const PACE = 4000 // milliseconds at a step
const CARRY = 1100 // the part of it in which the previous step's result moves
const PLAY = { play: "M6 3.5 16 10 6 16.5z", pause: "M6.5 4v12M13.5 4v12" }

export function buildWalk(state) {
  const button = element("button", { type: "button", className: "walk" })
  const place = element("span", { className: "note" })
  button.addEventListener("click", () => (state.walking ? stopWalk(state) : startWalk(state)))
  state.walk = { button, place, carried: /** @type {HTMLElement[]} */ ([]), timer: 0 }
  return element("div", { className: "walk-line" }, button, place)
}

/** @param {State} state */
export function drawWalk(state) {
  const { walk, meta, open, walking } = state
  const { texts } = meta
  const shows = walking ? "pause" : "play"
  if (walk.button.dataset.shows !== shows) {
    walk.button.dataset.shows = shows
    const icon = svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: PLAY[shows] }))
    walk.button.replaceChildren(icon, element("span"))
  }
  walk.button.lastChild.textContent = texts[walking ? "walk_pause" : "walk"] ?? ""
  walk.place.textContent = walking ? fill(texts.walk_at, { step: open, count: lastStep(state) }) : texts.walk_note
  state.root.dataset.walking = String(Boolean(walking))
}

// If the model predicts no token here, the walk ends at the step before.
/** @type {(state: State) => number} */
export const lastStep = ({ steps, meta }) => steps.length - (meta.next.length ? 0 : 1)

// Continue from the open step, or from the first one if none or the last one is open.
/** @param {State} state */
export function startWalk(state) {
  state.walking = true
  if (!state.open || state.open >= lastStep(state)) walkTo(state, 1)
  else {
    onwards(state)
    state.repaint()
  }
}

/** @param {State} state */
export function stopWalk(state) {
  if (!state.walking) return
  state.walking = false
  endCarry(state)
  clearTimeout(state.walk.timer)
  state.send("step", state.open)
  state.repaint()
}

/** @param {State} state */
export function endCarry({ walk }) {
  for (const carried of walk.carried) carried.remove() // its movement ends with it
  walk.carried = []
}

/** @param {State} state */
function onwards(state) {
  clearTimeout(state.walk.timer)
  state.walk.timer = setTimeout(() => {
    if (state.open >= lastStep(state)) stopWalk(state)
    else walkTo(state, state.open + 1)
  }, PACE)
}

/** @param {State} state */
function walkTo(state, number) {
  chosen(state, "step", number)
  state.open = number
  state.repaint()
  carry(state, number)
  showStep(state, number)
  onwards(state)
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches

// Scroll a step into view.
/** @param {State} state */
function showStep({ steps }, number) {
  const { top, bottom } = steps[number - 1].section.getBoundingClientRect()
  if (top >= 0 && bottom <= innerHeight) return
  steps[number - 1].section.scrollIntoView({ block: top < 0 || bottom - top > innerHeight ? "start" : "end", behavior: still() ? "instant" : "smooth" })
}

// What moves into a step, and where to: elements of the previous step, and one of this step.
/** @type {(state: State, number: number) => [from: (Element | null)[], to: Element | null]} */
function passedOn({ steps, vectors, mask, row, values }, number) {
  const result = steps[number - 2].result
  switch (number) {
    case 2: return [[vectors.q.canvas, vectors.k.canvas], vectors.bars]
    case 4: return [[result], mask.canvas]
    case 5: return [[steps[2].result], row.bars.querySelector(".chosen .column")]
    case 6: return [[row.bars.querySelector(".chosen .amount")], values.querySelector(".chosen .name")]
    case 7: return [[values.querySelector(".output canvas")], steps[6].result]
    case 8: return [[result], steps[7].body]
    default: return [[result], steps[number - 1].result]
  }
}

/** @type {(state: State, number: number) => void} */
export function carry(state, number) {
  endCarry(state)
  if (number < 2 || still()) return
  const [from, to] = passedOn(state, number)
  if (!to) return
  for (const node of from) {
    if (!node) continue
    const moving = copyOf(node)
    state.root.append(moving)
    const [here, there] = [node, to].map((one) => middleIn(one, state.root))
    const frame = ({ x, y }, opacity, offset) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%)`, opacity, offset })
    const animation = moving.animate([frame(here, 0, 0), frame(here, 1, 0.15), frame(there, 1, 0.85), frame(there, 0, 1)], { duration: CARRY, easing: "ease-in-out" })
    animation.onfinish = () => moving.remove()
    state.walk.carried.push(moving)
  }
}

/** @type {(node: Element, root: HTMLElement) => { x: number, y: number }} */
function middleIn(node, root) {
  const { left, top, width, height } = node.getBoundingClientRect()
  return pointIn({ clientX: left + width / 2, clientY: top + height / 2 }, root)
}

// A copy of a picture, or of a number, the last one of its equation.
/** @type {(node: Element) => HTMLElement} */
function copyOf(node) {
  const copy = node instanceof HTMLCanvasElement ? document.createElement("canvas") : element("span", { textContent: node.textContent?.split(" = ").at(-1) })
  copy.className = "carried"
  copy.setAttribute("aria-hidden", "true")
  if (node instanceof HTMLCanvasElement && copy instanceof HTMLCanvasElement && node.width) {
    Object.assign(copy, { width: node.width, height: node.height })
    Object.assign(copy.style, { width: node.style.width, height: node.style.height })
    copy.getContext("2d")?.drawImage(node, 0, 0)
  }
  return copy
}
