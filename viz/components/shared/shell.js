// The life of a component: made once per root, told new data, drawn anew when its width or theme changes, taken away.

import { emptyOutbox, post } from "./outbox.js"
import { unpack } from "./packing.js"
import { takeRoom } from "./room.js"
/** @import { Component, Host, Life, Root } from "./types" */

// What a component's default export does with what the host gives it. The parts of a component:
//
// `create(root, signal)` builds its elements and returns its state; listeners on the root itself take the signal.
// `receive(state, {meta, arrays}, data)` takes over new data, `draw(state)` draws them at the width there is, and
// `end(state)` stops what else the component has running. `follow(state, at)` shows what somebody else points at in this
// figure, see follow.js; a host that follows says so, and is asked for nothing.
//
// The state is found again when the host calls with new data. The host runs the cleanup of the last call when the
// component has left the page. Streamlit (1.67) also runs that of a call which newer data overtook while the module was
// loaded: before the newer call, after it, or after the overtaken call came late. Then the newer one is drawn again.
/** @type {(host: Host, selector: string, component: Component) => () => void} */
export function mounted(host, selector, component) {
  const { data, parentElement } = host
  const root = /** @type {Root} */ (parentElement.querySelector(selector))
  const state = (root.atlas ??= begun(root, component))
  const call = () => {
    state.follows = Boolean(host.follows)
    state.chooses = !host.follows || Boolean(host.alone)
    root.toggleAttribute("data-follows", !state.chooses)
    state.pointed = "" // who follows forgets with new data what was pointed at in those before
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

// Tell the host, at once or when nothing else was told for `wait` milliseconds: a held key asks once, when it rests.
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

// Draw with the next frame, all of it or what `paint` does.
/** @type {(state: Life, paint?: () => void) => void} */
export function later(state, paint = state.repaint) {
  cancelAnimationFrame(state.frame)
  state.frame = requestAnimationFrame(paint)
}

// Call `repaint` (at most once a frame) when the width, the room, the theme of a page of our own or the pixel ratio
// changes.
// Returns a function that stops it.
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

// A painted picture is countable from outside: tests and benchmarks wait for this number to grow.
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

// A key pressed alone, without one of those that belong to the browser.
/** @type {(event: KeyboardEvent) => boolean} */
export const plainKey = (event) => !(event.ctrlKey || event.metaKey || event.altKey)
