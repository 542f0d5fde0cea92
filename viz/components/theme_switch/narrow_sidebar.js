// On a narrow screen the sidebar covers the page. Close it after a tap on an example, a lesson or a page, so that the
// reader sees the result.

import { bringIntoView, partOf } from "../shared/in_view.js"

const LIES_OVER = "(max-width: 768px)" // Streamlit's own (1.67)
const EXAMPLE = ".st-key-examples button"
const PAGE = ".st-key-navigation a"
const LESSON = ".st-key-lesson_list :is(button, a)"
const CLOSE = "[data-testid=stSidebarCollapseButton] button"
const STORY = "map_heading" // on Heads: the head that an example opens and, below its map, what to look for

/** @param {AbortSignal} signal */
export function closeSidebarAfterChoice(signal) {
  const tapped = (event) => {
    if (!matchMedia(LIES_OVER).matches || !(event.target instanceof Element)) return
    const chosen = event.target.closest(`${EXAMPLE}, ${PAGE}, ${LESSON}`)
    if (!chosen) return
    /** @type {HTMLElement | null} */ (document.querySelector(CLOSE))?.click()
    if (chosen.matches(EXAMPLE)) bringIntoView(partOf(STORY))
  }
  document.addEventListener("click", tapped, { signal })
}
