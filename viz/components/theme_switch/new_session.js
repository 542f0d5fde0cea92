// Behind a connection that was lost there may be a new session, which has drawn nothing of what the page shows: the
// server was started again, or too much time went by. Streamlit (1.67) runs it at the next click alone, and drops that
// click where it is in a fragment; what else is chosen before the session has drawn it is lost too. So the page runs at
// once, and takes nothing in its main part until that is drawn.

const APP = ".stApp[data-test-connection-state]"
const VIEWS = "[data-testid=stMain]"
const EACH = 100 // milliseconds between two looks at whether the run is over
const RESTS = 4 // looks in a row that find it so: one run begins another
const ASKS = 15 // looks from one try to have it run to the next: Streamlit drops what it is told too early
const LONGEST = 300 // looks; then the page may be used, whatever goes on

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
