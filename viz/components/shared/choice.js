// A choice that both the user and the host can make. The user's choice is drawn at once and sent to the host; the
// host's answers to earlier choices must not undo it. If the host keeps sending another value, that value wins in the
// end.

const TRUST = 3000 // milliseconds for which a different value from the host counts as the answer to an earlier choice

/** @import { Life } from "./types" */

// `fromHost` is the value in new data; returns the value to draw.
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
    state.believing = setTimeout(() => state.again(), slot.until - now + 1) // use the host's latest value by then
  } else Object.assign(slot, { current: fromHost, asked: null })
  return slot.current
}

// Record the user's own choice.
/** @type {(state: Life, name: string, value: unknown) => void} */
export function chosen(state, name, value) {
  const until = performance.now() + TRUST
  Object.assign(state.choices[name], { current: value, asked: JSON.stringify(value), until, held: false })
}

// Adopt another user's choice, which the same host knows of, like one's own if it differs from what is drawn.
/** @type {(state: Life, name: string, value: unknown) => void} */
export function adopt(state, name, value) {
  if (JSON.stringify(state.choices[name].current) !== JSON.stringify(value)) chosen(state, name, value)
}

// Accept the value in the next data: it belongs to another text, for which the user has not chosen yet.
/** @type {(state: Life, name: string) => void} */
export function forget(state, name) {
  const slot = state.choices?.[name]
  if (slot) Object.assign(slot, { host: undefined, asked: null })
}
