// Scroll to what a tap changed on a narrow screen, which stacks what a wide one shows side by side.

const NARROW = "(max-width: 640px)"

// The part of the host's page that a choice changes, by its key in Python; null in a page of our own.
/** @type {(key: string) => Element | null} */
export const partOf = (key) => (key ? document.querySelector(`.st-key-${key}`) : null)

// On a narrow screen, scroll to a part unless its top is in the upper half of the window.
/** @type {(part: Element | null) => void} */
export function bringIntoView(part) {
  if (!part || !matchMedia(NARROW).matches) return
  const { top } = part.getBoundingClientRect()
  if (top >= 0 && top < innerHeight / 2) return
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  part.scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" })
}

// On a narrow screen choices are in one scrolling line. Scroll to the chosen one, once per choice and per rebuilt line.
/** @type {(state: any, line: HTMLElement, one: HTMLElement | undefined) => void} */
export function keepInLine(state, line, one) {
  const place = one ? [one.offsetLeft, one.offsetWidth, line.clientWidth, line.scrollWidth].join() : ""
  if (state.inSight === place) return
  state.inSight = place
  if (one) line.scrollLeft = one.offsetLeft - line.offsetLeft - (line.clientWidth - one.offsetWidth) / 2
}
