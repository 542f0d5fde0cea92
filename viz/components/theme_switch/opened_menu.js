// A menu of Streamlit's (1.67) opens at the end of the document and leaves the keyboard where it was: it could not be
// reached. It is given the focus as it opens; Escape closes it and gives the focus back to its button.

const BUTTON = "[data-testid=stPopoverButton]"
const MENU = "[data-testid=stPopoverBody]"
const PATIENCE = 3000 // milliseconds in which a menu that was asked for opens

/** @param {AbortSignal} signal */
export function focusOpenedMenus(signal) {
  /** @type {HTMLElement | null} */
  let button = null
  const observer = new MutationObserver(() => {
    const menu = /** @type {HTMLElement | null} */ (document.querySelector(MENU))
    if (!menu || button?.getAttribute("aria-expanded") !== "true") return
    observer.disconnect()
    menu.tabIndex = 0 // it may scroll, too
    menu.focus({ preventScroll: true })
  })
  const opened = (event) => {
    const found = event.target instanceof Element ? event.target.closest(BUTTON) : null
    if (!found || found.getAttribute("aria-expanded") === "true") return
    button = /** @type {HTMLElement} */ (found)
    observer.disconnect()
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["aria-expanded"] })
    setTimeout(() => observer.disconnect(), PATIENCE)
  }
  const closed = (event) => {
    const inMenu = event.target instanceof Element && event.target.closest(MENU)
    if (event.key === "Escape" && inMenu && button) button.focus({ preventScroll: true })
  }
  document.addEventListener("click", opened, { signal, capture: true })
  document.addEventListener("keydown", closed, { signal })
  signal.addEventListener("abort", () => observer.disconnect())
}
