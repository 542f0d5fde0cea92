// What a reader points at, chooses or plays inside a figure, without a run of the page: told to whoever shows the same
// figure elsewhere, in a room, say. A component tells it with `pointed`; its part `follow(state, at)` does the same there.
// Who hears it may have something to show first, before the page runs: `first` of the event is a promise of its end.

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

// What the picture of these data is of goes with what is pointed at in it, as `state.pictured`: in another picture there
// is another thing at that place. Of another picture, who follows believes what the data say of these choices at once.
/** @type {(state: Life, of: unknown[], choices: string[]) => void} */
export function pictured(state, of, choices) {
  const before = state.pictured
  state.pictured = of.join()
  if (state.follows && before !== state.pictured) for (const name of choices) forget(state, name)
}

// Whether who reads this may choose what only a run of the page draws: another head, another way, a cell that is hidden.
// Who follows looks closer and plays; a mark of their own choice would stand beside the picture of somebody else's. A figure
// alone in a file is its reader's own.
/** @type {(state: { chooses: boolean }) => boolean} */
export const mayChoose = ({ chooses }) => chooses

// A box of choices that may be more than it shows: where none of them has the keyboard, the box has, to scroll it.
/** @type {(box: HTMLElement, state: { chooses: boolean }) => void} */
export function scrolledByKeys(box, state) {
  const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight
  if (scrolls && !mayChoose(state)) box.tabIndex = 0
  else box.removeAttribute("tabindex")
}
