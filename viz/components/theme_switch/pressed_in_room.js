// When a button of a room is pressed with the keyboard, the page run that follows removes it and the focus would be
// lost. Move the focus to the first button of what replaces it, which a screen reader then reads.

const RUN_TAKES = 15_000 // maximum milliseconds of a page run

const POLL = "poll_actions"
const ASK = "ask_class"
/** @type {Record<string, string>} pressed button → Streamlit container keys, one or several, in which to find the next button */
const NEXT = {
  open_room: "class_code", hide_code: ASK, reveal: POLL, vote_again: POLL, drop_poll: ASK,
  end_room: "keep_room room_closed", end_it: "room_closed", keep_room: "end_room", // the button that loses nothing is first
  ask_next: POLL, ask_where: POLL, ask_ablate: POLL, ask_head: POLL, lesson_ask: POLL,
  first_next: POLL, first_where: POLL, first_ablate: POLL, show_page: ASK,
  pass: POLL, // a button of Step by step, identified by its class
}

/** @param {AbortSignal} signal */
export function followKeysOfRoom(signal) {
  let timer = 0
  /** @type {HTMLElement | null} */
  let pressed = null
  let next = ""
  const look = () => {
    if (pressed?.isConnected || (document.activeElement ?? document.body) !== document.body) return
    const places = next.split(" ").map((key) => `.st-key-${key} button:not([disabled])`).join()
    const found = /** @type {HTMLElement | null} */ (document.querySelector(places))
    if (!found) return
    stop()
    found.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(look)
  const stop = () => {
    observer.disconnect()
    clearTimeout(timer)
  }
  const onClick = (event) => {
    stop()
    const path = event.detail === 0 ? event.composedPath().filter((node) => node instanceof HTMLElement) : []
    const button = path.find((node) => node.matches("button")) // may be inside a figure
    const names = path.flatMap((node) => node.className.match(/st-key-(\w+)/)?.[1] ?? node.className)
    const held = names.find((name) => name in NEXT)
    if (!button || !held) return
    pressed = button
    next = NEXT[held]
    observer.observe(document.body, { subtree: true, childList: true })
    timer = setTimeout(stop, RUN_TAKES)
  }
  document.addEventListener("click", onClick, { signal, capture: true })
  document.addEventListener("keydown", stop, { signal, capture: true }) // the reader has moved on
  signal.addEventListener("abort", stop)
}
