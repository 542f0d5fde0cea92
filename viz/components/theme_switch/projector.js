// Projector mode: P enlarges everything, in full contrast and without the sidebar. The two buttons of a presenter
// (PageUp and PageDown) step through what the page offers, for example the frames of a film and, after the last, the
// pages. If the class sees a room's code or a question instead of a page, PageDown goes on to the answers and then back
// to the page. Lessons and questions to the class react to these buttons without projector mode, too: a presenter may
// use a laptop.
//
// The mode is not part of what is shared: it is stored per tab, survives reloads, and is not in the URL.

import { element } from "../shared/dom.js"
import { plainKey } from "../shared/shell.js"

const KEPT = "atlas-projector"
const TYPED = "input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable=true]"
const PAGES = ".st-key-navigation a"
const INSTEAD = ":is(.st-key-class_code, .st-key-class_poll, .st-key-class_first)" // shown instead of a page; the first of these buttons continues:
const ON = ":is(.st-key-hide_code, .st-key-reveal, .st-key-drop_poll) button"
const SKIP = ".st-key-lesson_asks .st-key-lesson_skip button" // for a reader without a class: show the page before the next step
const LED = `${INSTEAD}, .st-key-lesson` // what the two buttons always control
const OWN = "input, [role=slider], [role=listbox] *, [role=dialog] *" // elements that handle these keys themselves
const LEAVE = "atlas-projector-leave"
const MAIN = "[data-testid=stMain]" // the element that scrolls

export const projected = () => "projector" in document.documentElement.dataset

/**
 * @param {AbortSignal} signal
 * @param {() => void} changed
 */
export function followProjector(signal, changed) {
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!plainKey(event) || event.repeat || isTyped(event)) return
    if (event.key.toLowerCase() === "p") project(!projected(), changed)
    else if ((event.key === "PageDown" || event.key === "PageUp") && turns(event)) go(event.key === "PageDown" ? "next" : "back")
    else return
    event.preventDefault()
  }
  document.addEventListener("keydown", pressed, { signal })
  document.addEventListener("scroll", keepBesideHead, { capture: true, passive: true, signal })
  signal.addEventListener("abort", () => document.querySelector(`.${LEAVE}`)?.remove())
  if (kept()) project(true, changed)
}

/** @type {(on: boolean, changed: () => void) => void} */
export function project(on, changed) {
  if (on) document.documentElement.dataset.projector = ""
  else delete document.documentElement.dataset.projector
  keep(on)
  changed()
  dispatchEvent(new Event("resize")) // makes figures read their size again
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT) !== null
  } catch {
    return false // a browser that forbids storage
  }
}

/** @type {(on: boolean) => void} */
function keep(on) {
  try {
    if (on) sessionStorage.setItem(KEPT, "1")
    else sessionStorage.removeItem(KEPT)
  } catch {
    // without storage, the mode lasts until a reload
  }
}

// Show a button that leaves projector mode, for readers who do not know the key, since the sidebar with its switch is
// hidden. It is next to the page's heading and scrolls away with it, so that it never covers a picture.
/** @type {(words: string, changed: () => void) => void} */
export function showWayBack(words, changed) {
  const there = document.querySelector(`.${LEAVE}`)
  if (!projected()) return there?.remove()
  const button = there ?? element("button", { type: "button", className: LEAVE, textContent: "P ✕" })
  for (const name of ["title", "aria-label"]) button.setAttribute(name, words)
  if (there) return
  button.addEventListener("click", () => project(false, changed))
  document.body.append(button)
  keepBesideHead()
}

function keepBesideHead() {
  const top = document.querySelector(MAIN)?.scrollTop ?? 0
  document.querySelector(`.${LEAVE}`)?.toggleAttribute("data-away", top > 0)
}

/** @type {(event: KeyboardEvent) => boolean} */
function isTyped(event) {
  const [target] = event.composedPath()
  return target instanceof Element && target.matches(TYPED)
}

// Whether PageUp and PageDown step here instead of scrolling.
/** @type {(event: KeyboardEvent) => boolean} */
function turns(event) {
  if (projected()) return true
  const [target] = event.composedPath()
  return document.querySelector(LED) !== null && !(target instanceof Element && target.matches(OWN))
}

// Click a step button ([data-step]) in a figure or next to it; if there is none or it is disabled, go to another page.
/** @type {(way: "next" | "back") => void} */
function go(way) {
  if (document.querySelector(INSTEAD)) {
    const on = /** @type {HTMLElement | null} */ (document.querySelector(`${INSTEAD} ${ON}`))
    if (way === "next") on?.click()
    return // there is no way back: revealed answers stay, and the page underneath does not change
  }
  const skip = /** @type {HTMLElement | null} */ (document.querySelector(SKIP))
  if (skip && way === "next") return skip.click()
  const lesson = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-lesson_${way} :is(button, a)`))
  if (lesson) return lesson.click() // an open lesson has its own order
  const roots = [document, ...[...document.querySelectorAll(".stMain *")].map((node) => node.shadowRoot)]
  const steps = roots.flatMap((root) => [...(root?.querySelectorAll(`[data-step=${way}]`) ?? [])])
  const free = /** @type {HTMLElement | undefined} */ (steps.find((step) => !step.matches(":disabled")))
  if (free) return free.click()
  const pages = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(PAGES)])
  // The link to the first page, whose path is empty, has the URL of the current page, whichever it is (Streamlit 1.67).
  const here = pages.findLastIndex((page) => new URL(/** @type {HTMLAnchorElement} */ (page).href).pathname === location.pathname)
  pages[here + (way === "next" ? 1 : -1)]?.click()
}
