// After a lost connection, the server may have a new session that has not run the page yet: the server was restarted,
// or the old session expired. Streamlit (1.67) runs the new session only at the next click and drops that click if it
// is in a fragment; other choices made before the session has run are lost, too. Therefore the page runs at once, and
// its main part is inert until the run is over.

const APP = ".stApp[data-test-connection-state]"
const VIEWS = "[data-testid=stMain]"
const EACH = 100 // milliseconds between checks whether the run is over
const RESTS = 4 // consecutive checks without a run before it counts as over, since one run can start another
const ASKS = 15 // checks between retries to start the run: Streamlit drops messages that arrive too early
const LONGEST = 300 // checks before the page is enabled in any case

/**
 * @param {AbortSignal} signal
 * @param {() => void} run
 */
export function runNewSession(signal, run) {
  const app = /** @type {HTMLElement | null} */ (document.querySelector(APP))
  if (!app) return
  const isConnected = () => app.dataset.testConnectionState === "CONNECTED"
  let lost = false
  let looking = 0
  const observer = new MutationObserver(() => {
    if (isConnected() && lost) begin()
    lost = !isConnected()
  })
  const begin = () => {
    let [looks, rests, ran] = [0, 0, false]
    end()
    document.querySelector(VIEWS)?.toggleAttribute("inert", true)
    setTimeout(run)
    looking = setInterval(() => {
      const runs = app.dataset.testScriptState !== "notRunning"
      ran ||= runs
      rests = ran && !runs ? rests + 1 : 0
      looks += 1
      if (!ran && looks % ASKS === 0 && isConnected()) run()
      if (rests >= RESTS || looks >= LONGEST) end()
    }, EACH)
  }
  const end = () => {
    clearInterval(looking)
    document.querySelector(VIEWS)?.removeAttribute("inert")
  }
  observer.observe(app, { attributeFilter: ["data-test-connection-state"] })
  signal.addEventListener("abort", () => {
    observer.disconnect()
    end()
  })
}
