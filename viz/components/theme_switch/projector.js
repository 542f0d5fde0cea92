// For a projector: P makes all larger, in full contrast, without the sidebar, and a presenter's two buttons (PageUp and
// PageDown) step through what the page has to step through: the frames of a film, say, and at its end, the pages. What a
// class sees instead of a page, its room's code or a question, goes on to the answers and back to the page. A lesson's
// steps and what a class is asked go on in a window of any size, too: a presenter may stand before a laptop.
//
// How large a screen shows is no part of what it shows: it is kept by the tab, through loads, and no address has it.

import { element } from "../shared/dom.js"
import { plainKey } from "../shared/shell.js"

const KEPT = "atlas-projector"
const TYPED = "input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable=true]"
const PAGES = ".st-key-navigation a"
const INSTEAD = ":is(.st-key-class_code, .st-key-class_poll, .st-key-class_first)" // of a page; gone on from by the first of these:
const ON = ":is(.st-key-hide_code, .st-key-reveal, .st-key-drop_poll) button"
const SKIP = ".st-key-lesson_asks .st-key-lesson_skip button" // of who is asked alone: the page comes before the next step
const LED = `${INSTEAD}, .st-key-lesson` // what the two buttons are for wherever it stands
const OWN = "input, [role=slider], [role=listbox] *, [role=dialog] *" // where they have a meaning already
const LEAVE = "atlas-projector-leave"
const MAIN = "[data-testid=stMain]" // what scrolls

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
  dispatchEvent(new Event("resize")) // figures look how large they are to be
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
    // it lasts until the page is loaded again
  }
}

// The way back for who does not know the key: the sidebar with its switch is hidden. It stands beside the page's head and
// goes with it, so that it never lies over a picture.
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

// Whether a presenter's button is one here, and scrolls nothing.
/** @type {(event: KeyboardEvent) => boolean} */
function turns(event) {
  if (projected()) return true
  const [target] = event.composedPath()
  return document.querySelector(LED) !== null && !(target instanceof Element && target.matches(OWN))
}

// A button of the page that steps ([data-step]), in a figure or beside it; where there is none, or no further, a page.
/** @type {(way: "next" | "back") => void} */
function go(way) {
  if (document.querySelector(INSTEAD)) {
    const on = /** @type {HTMLElement | null} */ (document.querySelector(`${INSTEAD} ${ON}`))
    if (way === "next") on?.click()
    return // there is no way back: what was revealed stays so, and no page is turned underneath
  }
  const skip = /** @type {HTMLElement | null} */ (document.querySelector(SKIP))
  if (skip && way === "next") return skip.click()
  const lesson = /** @type {HTMLElement | null} */ (document.querySelector(`.st-key-lesson_${way} :is(button, a)`))
  if (lesson) return lesson.click() // an open lesson goes its own way
  const roots = [document, ...[...document.querySelectorAll(".stMain *")].map((node) => node.shadowRoot)]
  const steps = roots.flatMap((root) => [...(root?.querySelectorAll(`[data-step=${way}]`) ?? [])])
  const free = /** @type {HTMLElement | undefined} */ (steps.find((step) => !step.matches(":disabled")))
  if (free) return free.click()
  const pages = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(PAGES)])
  // The link to the page without a name of its own has the open page's address, whatever it is (Streamlit 1.67).
  const here = pages.findLastIndex((page) => new URL(/** @type {HTMLAnchorElement} */ (page).href).pathname === location.pathname)
  pages[here + (way === "next" ? 1 : -1)]?.click()
}
