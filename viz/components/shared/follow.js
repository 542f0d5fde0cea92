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
