// How large figures are in the current window. The app's pages set `--atlas-zoom` on large screens to enlarge
// everything. In the app, figures are lower in a low window and higher in a high one. A page of our own, for example a
// notebook cell, is as high as its figure, so nothing in it depends on the height of the window.

/** @import { Root } from "./types" */

const USUAL = 900 // height of a window in which figures have the height that their pages ask for
const AROUND = 210 // pixels of that height around a figure
const STACKED = 800 // up to this width columns are stacked and the page scrolls

const given = { zoom: 1, share: 1 }
/** @type {WeakMap<Root, string>} */
const taken = new WeakMap() // per figure, since a page may have two of a kind

// Read the zoom and the height available to this figure; returns whether they changed since its last call.
/** @type {(root: Root) => boolean} */
export function takeRoom(root) {
  const app = document.querySelector(".stApp")
  const wanted = app && "currentCSSZoom" in root ? getComputedStyle(root).getPropertyValue("--atlas-zoom") : ""
  given.zoom = Number(wanted) || 1
  if (app) root.style.setProperty("zoom", String(given.zoom))
  const free = (innerHeight / given.zoom - AROUND) / (USUAL - AROUND)
  given.share = app && innerWidth > STACKED ? Math.min(1.3, Math.max(0.72, free)) : 1
  root.style.setProperty("--aa-room", String(given.share))
  const before = taken.get(root)
  taken.set(root, `${given.zoom} ${given.share}`)
  return before !== taken.get(root)
}

// A requested height, scaled to the current window.
/** @type {(height: number) => number} */
export const inRoom = (height) => Math.round(height * given.share)

// Screen pixels per pixel of a figure.
export const sharpness = () => (devicePixelRatio || 1) * given.zoom

// The pointer's position in an element, in the element's own pixels.
/** @type {(event: { clientX: number, clientY: number }, element: Element) => { x: number, y: number }} */
export function pointIn({ clientX, clientY }, element) {
  const { left, top } = element.getBoundingClientRect()
  return { x: (clientX - left) / given.zoom, y: (clientY - top) / given.zoom }
}
