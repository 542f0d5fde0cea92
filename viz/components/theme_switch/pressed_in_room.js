// A key of a room that is pressed by the keyboard goes with the run that follows, and the keyboard would be nowhere: it
// is given to the first key of what comes in its place, which a screen reader then reads.

const RUN_TAKES = 15_000 // milliseconds in which the page has run

const POLL = "poll_actions"
const ASK = "ask_class"
/** @type {Record<string, string>} what is pressed → where the next key is, by the keys, in one place or another, of Streamlit's containers */
const NEXT = {
  open_room: "class_code", hide_code: ASK, reveal: POLL, vote_again: POLL, drop_poll: ASK,
  end_room: "keep_room room_closed", end_it: "room_closed", keep_room: "end_room", // what loses nothing is first
  ask_next: POLL, ask_where: POLL, ask_ablate: POLL, ask_head: POLL, lesson_ask: POLL,
  first_next: POLL, first_where: POLL, first_ablate: POLL, show_page: ASK,
  pass: POLL, // of Step by step, by its class
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
    const button = path.find((node) => node.matches("button")) // of a figure, perhaps
    const names = path.flatMap((node) => node.className.match(/st-key-(\w+)/)?.[1] ?? node.className)
    const held = names.find((name) => name in NEXT)
    if (!button || !held) return
    pressed = button
    next = NEXT[held]
    observer.observe(document.body, { subtree: true, childList: true })
    timer = setTimeout(stop, RUN_TAKES)
  }
  document.addEventListener("click", onClick, { signal, capture: true })
  document.addEventListener("keydown", stop, { signal, capture: true }) // the reader went on by himself
  signal.addEventListener("abort", stop)
}
