// While the film plays, each token comes in four beats: its chip, its arcs, its column of the cache, and the drawn
// token, which flies from its row to the end of the text. There is no motion at a speed that leaves no time for it, or
// if the user prefers reduced motion.

import { pointIn } from "../shared/room.js"
import { element } from "../shared/dom.js"
/** @import { State } from "./types" */

const BEAT = 250 // milliseconds
const LEAST = 60 // a shorter one would only flicker

// The length of a beat at so many tokens per second, such that four of them fit; 0 if that is too short.
/** @type {(speed: number) => number} */
export function beatOf(speed) {
  const beat = Math.min(BEAT, 1000 / speed / 4)
  return beat >= LEAST ? beat : 0
}

/** @param {State} state */
export function stopBeats(state) {
  for (const beat of state.beats) beat.cancel()
  state.beats = []
  state.root.querySelector(".flight")?.remove()
}

/** @param {State} state */
export function playBeats(state) {
  stopBeats(state)
  const beat = beatOf(state.speed)
  if (!beat || matchMedia("(prefers-reduced-motion: reduce)").matches) return
  const start = (node, frames, number) => {
    const moving = node.animate(frames, { duration: beat, delay: number * beat, fill: "both", easing: "ease-out" })
    state.beats.push(moving)
    return moving
  }
  const { chips, axis } = state
  const chip = chips.box.querySelector(".current")
  if (chip) start(chip, [{ opacity: 0, transform: "translateX(12px)" }, { opacity: 1, transform: "none" }], 0)
  for (const line of axis.arcs.lines.children) start(line, [{ strokeDasharray: "1 1", strokeDashoffset: 1 }, { strokeDasharray: "1 1", strokeDashoffset: 0 }], 1)
  start(axis.curtain, [{ transform: "scaleY(1)" }, { transform: "scaleY(0)" }], 2)
  fly(state, start)
}

// The next drawn token, from its row to its place in the text.
/** @type {(state: State, start: (node: Element, frames: Keyframe[], number: number) => Animation) => void} */
function fly({ root, at, choice, chips }, start) {
  const from = choice.list.querySelector(".chosen .label")
  const to = chips.box.querySelector(`[data-frame="${at + 1}"]`)
  if (!from || !to) return
  const [there, here] = [to, from].map((node) => {
    const { left, top } = node.getBoundingClientRect()
    return pointIn({ clientX: left, clientY: top }, root)
  })
  const flight = element("span", { className: "chip flight", textContent: to.textContent, "aria-hidden": "true" })
  root.append(flight)
  const stand = ({ x, y }, opacity) => ({ transform: `translate(${x}px, ${y}px)`, opacity })
  const moving = start(flight, [stand(here, 0), { ...stand(here, 1), offset: 0.15 }, stand(there, 1)], 3)
  moving.onfinish = () => flight.remove()
}
