// Share what a reader points at, chooses or plays inside a figure, without a page run, with others who show the same
// figure, for example in a room. A component reports it with `pointed`; its function `follow(state, at)` replays it on
// the other side. A listener may show a preview before the page runs: it then sets the event's `first` to a promise
// that resolves when the preview is shown.

import { forget } from "./choice.js"
/** @import { Life } from "./types" */

export const POINTED = "atlas-pointed"

/** @type {(state: Life, at: object) => Promise<void> | undefined} */
export function pointed(state, at) {
  const said = JSON.stringify(at)
  if (state.follows || said === state.pointed) return
  state.pointed = said
  const event = /** @type {any} */ (new CustomEvent(POINTED, { bubbles: true, composed: true, detail: at }))
  state.root.dispatchEvent(event)
  return event.first
}

// Identify the picture that this data shows, as `state.pictured`. It is sent with what is pointed at, because the same
// place in another picture means something else. For a new picture, a follower accepts these choices from the data at
// once.
/** @type {(state: Life, of: unknown[], choices: string[]) => void} */
export function pictured(state, of, choices) {
  const before = state.pictured
  state.pictured = of.join()
  if (state.follows && before !== state.pictured) for (const name of choices) forget(state, name)
}

// Whether the reader may make choices that only a page run can draw: another head, another view, a hidden cell. A
// follower can zoom and play but not choose, since the mark of the choice would not match the picture, which is another
// user's. In a figure saved as a file, the reader may choose.
/** @type {(state: { chooses: boolean }) => boolean} */
export const mayChoose = ({ chooses }) => chooses

// Make a box of choices focusable if it overflows and its choices are disabled, so that the keyboard can scroll it.
/** @type {(box: HTMLElement, state: { chooses: boolean }) => void} */
export function scrolledByKeys(box, state) {
  const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight
  if (scrolls && !mayChoose(state)) box.tabIndex = 0
  else box.removeAttribute("tabindex")
}
