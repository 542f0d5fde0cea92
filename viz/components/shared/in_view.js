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
