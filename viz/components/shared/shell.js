// The lifecycle of a component: it is created once per root, receives new data, is redrawn when its width or theme
// changes, and is disposed.

import { emptyOutbox, post } from "./outbox.js"
import { unpack } from "./packing.js"
import { takeRoom } from "./room.js"
/** @import { Component, Host, Life, Root } from "./types" */

// Mount a component: every component's default export calls this with its host. A component consists of these
// functions:
//
// `create(root, signal)` builds the elements and returns the state; event listeners on the root or outside it take the
// signal. `receive(state, {meta, arrays}, data)` stores new data, `draw(state)` draws it at the current width, and
// `end(state)` stops anything else that is still running. `follow(state, at)` shows what another user points at in the
// same figure, see follow.js. A host that follows another user sets `follows`; its components request nothing from it.
//
// The state is kept on the root and reused when the host calls with new data. The host runs the cleanup function of the
// last call when the component leaves the page. Streamlit (1.67) also runs the cleanup of a call that was superseded by
// newer data while the module was loading: before the newer call, after it, or after the superseded call arrives late.
// In that case the newer data is drawn again.
/** @type {(host: Host, selector: string, component: Component) => () => void} */
export function mounted(host, selector, component) {
  const { data, parentElement } = host
  const root = /** @type {Root} */ (parentElement.querySelector(selector))
  const state = (root.atlas ??= begun(root, component))
  const call = () => {
    state.follows = Boolean(host.follows)
    state.chooses = !host.follows || Boolean(host.alone)
    root.toggleAttribute("data-follows", !state.chooses)
    state.pointed = "" // new data resets what was pointed at in the data before it
    state.send = (name, value) => post(state.outbox, host, name, value)
    state.again = () => {
      component.receive(state, unpack(data), data)
      state.repaint()
    }
    state.again()
  }
  state.calls = [...state.calls.slice(-2), call]
  call()
  return () => {
    if (!root.isConnected) return state.dispose()
    const late = state.calls.at(-1) === call
    state.calls = state.calls.filter((other) => other !== call)
    if (late) state.calls.at(-1)?.()
  }
}

/** @type {(root: Root, component: Component) => Life} */
function begun(root, { create, draw, end = () => {}, follow = () => {} }) {
  const life = new AbortController()
  const state = create(root, life.signal)
  const repaint = () => {
    takeRoom(root)
    draw(state)
  }
  const stop = watchLayout(root, repaint)
  const dispose = () => {
    stop()
    life.abort()
    end(state)
    state.announce?.stop()
    clearTimeout(state.asking)
    clearTimeout(state.believing)
    cancelAnimationFrame(state.frame)
    root.replaceChildren()
    delete root.atlas
  }
  const followed = (/** @type {any} */ at) => state.calls.length && follow(state, at)
  return Object.assign(state, { root, repaint, dispose, follow: followed, calls: [], outbox: emptyOutbox() })
}

// Send a value to the host, at once or debounced by `wait` milliseconds, so that a held key sends only its last value.
/** @type {(state: Life, name: string, value: unknown, wait?: number) => void} */
export function tell(state, name, value, wait = 0) {
  clearTimeout(state.asking)
  state.asking = 0
  if (!wait) return state.send(name, value)
  state.asking = setTimeout(() => {
    state.asking = 0
    state.send(name, value)
  }, wait)
}

// Redraw in the next frame: everything, or what `paint` draws.
/** @type {(state: Life, paint?: () => void) => void} */
export function later(state, paint = state.repaint) {
  cancelAnimationFrame(state.frame)
  state.frame = requestAnimationFrame(paint)
}

// Call `repaint` (at most once a frame) when the width, the room, the pixel ratio or, in a page of our own, the theme
// changes. Returns a function that stops it.
/** @type {(root: Root, repaint: () => void) => () => void} */
function watchLayout(root, repaint) {
  let frame = 0
  let [width, ratio] = [root.clientWidth, devicePixelRatio]
  const soon = () => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(repaint)
  }
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === width && devicePixelRatio === ratio) return
    ;[width, ratio] = [root.clientWidth, devicePixelRatio]
    soon()
  })
  observer.observe(root)
  const resized = () => takeRoom(root) && soon()
  addEventListener("resize", resized)
  const scheme = matchMedia("(prefers-color-scheme: dark)")
  scheme.addEventListener("change", soon)
  return () => {
    cancelAnimationFrame(frame)
    observer.disconnect()
    removeEventListener("resize", resized)
    scheme.removeEventListener("change", soon)
  }
}

// Count the paints in an attribute: tests and benchmarks wait for this number to grow.
/** @type {(root: Root) => void} */
export function markPainted(root) {
  root.dataset.painted = String(Number(root.dataset.painted ?? 0) + 1)
}

// Put the latest text into an aria-live element, at most once every `pause` milliseconds.
/**
 * @param {HTMLElement} element
 * @param {number} pause
 */
export function announcer(element, pause = 400) {
  let [timer, last] = [0, 0]
  let waiting = /** @type {string | null} */ (null)
  const say = () => {
    timer = 0
    last = performance.now()
    if (waiting !== null && element.textContent !== waiting) element.textContent = waiting
    waiting = null
  }
  const announce = (/** @type {string} */ text) => {
    waiting = text
    if (!timer) timer = setTimeout(say, Math.max(0, pause - (performance.now() - last)))
  }
  announce.stop = () => clearTimeout(timer)
  return announce
}

// Whether a key was pressed without Ctrl, Meta or Alt, whose combinations belong to the browser.
/** @type {(event: KeyboardEvent) => boolean} */
export const plainKey = (event) => !(event.ctrlKey || event.metaKey || event.altKey)
