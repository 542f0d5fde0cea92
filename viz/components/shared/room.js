// How large figures are in the window there is. The app's pages give `--atlas-zoom` on large screens, where all grows;
// figures of the app are lower in a low window and higher in a high one. A page of our own, a notebook's cell, say, is
// as high as its figure, so nothing there depends on it.

/** @import { Root } from "./types" */

const USUAL = 900 // the height of a window in which figures have the height that their pages ask for,
const AROUND = 210 // of which this much is not theirs
const STACKED = 800 // up to this width what stands side by side elsewhere is stacked, and the page scrolls

const given = { zoom: 1, share: 1 }
/** @type {WeakMap<Root, string>} */
const taken = new WeakMap() // by every figure: two of a kind may stand on a page

// Take the room there is, and whether it is another than this figure took before.
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

// A height asked for, in the window there is.
/** @type {(height: number) => number} */
export const inRoom = (height) => Math.round(height * given.share)

// Pixels of the screen in one of a figure.
export const sharpness = () => (devicePixelRatio || 1) * given.zoom

// Where in an element a pointer is, in the element's own pixels.
/** @type {(event: { clientX: number, clientY: number }, element: Element) => { x: number, y: number }} */
export function pointIn({ clientX, clientY }, element) {
  const { left, top } = element.getBoundingClientRect()
  return { x: (clientX - left) / given.zoom, y: (clientY - top) / given.zoom }
}
