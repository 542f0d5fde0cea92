// Streamlit (1.67) opens a popover at the end of the document without moving the focus, so the keyboard cannot reach
// it. Focus the popover when it opens; when Escape closes it, return the focus to its button.

const BUTTON = "[data-testid=stPopoverButton]"
const MENU = "[data-testid=stPopoverBody]"
const PATIENCE = 10000 // milliseconds to wait for a popover to open; long, for slow machines

/** @param {AbortSignal} signal */
export function focusOpenedMenus(signal) {
  /** @type {HTMLElement | null} */
  let button = null
  /** @type {HTMLElement | undefined} */
  let given
  let waiting = 0
  const observer = new MutationObserver(() => {
    // The newest popover: an older one may still be closing and would take the focus with it.
    const menu = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(MENU))].at(-1)
    if (!menu || menu === given || button?.getAttribute("aria-expanded") !== "true") return
    given = menu
    menu.tabIndex = 0 // also lets the keyboard scroll it
    menu.focus({ preventScroll: true })
  })
  const stop = () => {
    clearTimeout(waiting)
    observer.disconnect()
  }
  const opened = (event) => {
    const found = event.target instanceof Element ? event.target.closest(BUTTON) : null
    if (!found || found.getAttribute("aria-expanded") === "true") return
    button = /** @type {HTMLElement} */ (found)
    given = undefined
    stop()
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-expanded"] })
    waiting = setTimeout(stop, PATIENCE)
  }
  const closed = (event) => {
    const inMenu = event.target instanceof Element && event.target.closest(MENU)
    if (event.key === "Escape" && inMenu && button) button.focus({ preventScroll: true })
  }
  document.addEventListener("click", opened, { signal, capture: true })
  document.addEventListener("keydown", closed, { signal })
  signal.addEventListener("abort", stop)
}
