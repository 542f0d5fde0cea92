// What a tap changed comes into view, where a narrow screen stacks what stands side by side on a wide one.

const NARROW = "(max-width: 640px)"

// The part of the host's page that a choice changes, by the key that its Python gave it; none in a page of our own.
/** @type {(key: string) => Element | null} */
export const partOf = (key) => (key ? document.querySelector(`.st-key-${key}`) : null)

// Scroll to a part whose beginning is not in the upper half of a narrow screen.
/** @type {(part: Element | null) => void} */
export function bringIntoView(part) {
  if (!part || !matchMedia(NARROW).matches) return
  const { top } = part.getBoundingClientRect()
  if (top >= 0 && top < innerHeight / 2) return
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  part.scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" })
}

// On a narrow screen choices stand in one line, which scrolls: to the chosen one, once for each and for each line made.
/** @type {(state: any, line: HTMLElement, one: HTMLElement | undefined) => void} */
export function keepInLine(state, line, one) {
  const place = one ? [one.offsetLeft, one.offsetWidth, line.clientWidth, line.scrollWidth].join() : ""
  if (state.inSight === place) return
  state.inSight = place
  if (one) line.scrollLeft = one.offsetLeft - line.offsetLeft - (line.clientWidth - one.offsetWidth) / 2
}
