// A menu of Streamlit's (1.67) opens at the end of the document and leaves the keyboard where it was: it could not be
// reached. It is given the focus as it opens; Escape closes it and gives the focus back to its button.

const BUTTON = "[data-testid=stPopoverButton]"
const MENU = "[data-testid=stPopoverBody]"
const PATIENCE = 10000 // milliseconds in which a menu that was asked for opens; long, for a slow machine is the one to wait

/** @param {AbortSignal} signal */
export function focusOpenedMenus(signal) {
  /** @type {HTMLElement | null} */
  let button = null
  /** @type {HTMLElement | undefined} */
  let given
  let waiting = 0
  const observer = new MutationObserver(() => {
    // The newest: another that is on its way out may be there, and leave with the focus.
    const menu = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(MENU))].at(-1)
    if (!menu || menu === given || button?.getAttribute("aria-expanded") !== "true") return
    given = menu
    menu.tabIndex = 0 // it may scroll, too
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
