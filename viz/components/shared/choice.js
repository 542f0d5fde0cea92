// A choice that both the user and the host make: the user's is drawn at once and told to the host, whose answers to the
// user's earlier choices must not undo it. What the host goes on saying is believed in the end.

const TRUST = 3000 // milliseconds in which another answer of the host is taken for one to an earlier choice

/** @import { Life } from "./types" */

// `fromHost` is what new data says; returns what to draw.
/** @type {<T>(state: Life, name: string, fromHost: T) => T} */
export function reconcile(state, name, fromHost) {
  const slots = (state.choices ??= {})
  const slot = (slots[name] ??= { host: undefined, current: fromHost, asked: null, until: 0, held: false })
  const said = JSON.stringify(fromHost)
  const now = performance.now()
  if (said === slot.host && !(slot.held && now >= slot.until)) return slot.current
  slot.host = said
  slot.held = slot.asked !== null && slot.asked !== said && now < slot.until
  if (slot.held) {
    clearTimeout(state.believing)
    state.believing = setTimeout(() => state.again(), slot.until - now + 1) // with what the host says by then
  } else Object.assign(slot, { current: fromHost, asked: null })
  return slot.current
}

// The user's own choice.
/** @type {(state: Life, name: string, value: unknown) => void} */
export function chosen(state, name, value) {
  const until = performance.now() + TRUST
  Object.assign(state.choices[name], { current: value, asked: JSON.stringify(value), until, held: false })
}

// Somebody else's choice, of whom the same host hears: as one's own, where it is another than what is drawn.
/** @type {(state: Life, name: string, value: unknown) => void} */
export function adopt(state, name, value) {
  if (JSON.stringify(state.choices[name].current) !== JSON.stringify(value)) chosen(state, name, value)
}

// Believe the next data: they are about another text, where the user has not chosen yet.
/** @type {(state: Life, name: string) => void} */
export function forget(state, name) {
  const slot = state.choices?.[name]
  if (slot) Object.assign(slot, { host: undefined, asked: null })
}
