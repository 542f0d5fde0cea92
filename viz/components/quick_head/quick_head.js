import { ask } from "../shared/desk.js"
import { POINTED } from "../shared/follow.js"
import { GIVEN } from "../shared/given.js"
import { whole } from "../shared/sent.js"
import { markPainted, mounted } from "../shared/shell.js"
/** @import { Host, Root } from "../shared/types" */
/** @import { Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".quick-head", { create, receive, draw: ({ root }) => markPainted(root), end: (state) => state.flight?.abort() })
}

/**
 * @param {Root} _root
 * @param {AbortSignal} signal
 */
function create(_root, signal) {
  const state = /** @type {any} */ ({ of: "", flight: null })
  document.addEventListener(POINTED, (event) => hear(state, event), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.meta = meta
  state.of ||= String(meta.of) // the grid may mount later and report its head
}

// Handle a head that was chosen, or only pointed at, in the grid or in a list of heads.
/** @type {(state: State, event: any) => void} */
function hear(state, event) {
  const [figure] = event.composedPath()
  const { chosen, hovered } = event.detail
  if (!figure.matches(".head-grid, .head-bars") || !chosen) return
  const same = String(chosen) === state.of
  state.of = String(chosen)
  if (!same && !hovered) event.first = give(state, chosen)
}

/** @type {(state: State, of: number[]) => Promise<void>} */
async function give(state, of) {
  state.flight?.abort()
  const flight = (state.flight = new AbortController())
  const { bytes } = await ask(state.meta, `head/${state.meta.way}/${of.join("/")}`, flight.signal)
  if (flight.signal.aborted) return
  const map = bytes?.byteLength ? await whole(new Uint8Array(bytes)) : undefined
  if (flight.signal.aborted) return
  dispatchEvent(new CustomEvent(GIVEN, { detail: { figure: "head-map", of, bytes: map } }))
  await new Promise(requestAnimationFrame) // the map has been painted
}
