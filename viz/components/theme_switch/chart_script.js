// Streamlit (1.67) imports Plotly only with the first chart, which then waits half a second or more. Preload it here,
// once the page has been idle for a while.

const QUIET = 2000 // milliseconds without an input and without a run of the page
const LOOK = 250 // milliseconds between checks
const INPUTS = ["pointerdown", "pointermove", "wheel", "keydown", "input"]

let asked = ""

// `name` is the script's file name, next to Streamlit's own script. `done` is called once it is loaded.
/** @type {(name: string, done: () => void) => void} */
export function importAtRest(name, done) {
  const streamlit = /** @type {HTMLScriptElement | null} */ (document.querySelector("script[type=module][src*='static/js/index.']"))
  const saves = /** @type {any} */ (navigator).connection?.saveData
  if (!name || asked || !streamlit || saves) return
  asked = new URL(name, streamlit.src).href
  const life = new AbortController()
  let last = performance.now()
  const touch = () => (last = performance.now())
  for (const kind of INPUTS) addEventListener(kind, touch, { capture: true, passive: true, signal: life.signal })
  const look = () => {
    const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
    if (app?.dataset.testScriptState !== "notRunning" || document.hidden) touch()
    if (performance.now() - last < QUIET) return
    clearInterval(timer)
    life.abort()
    import(asked).then(done, () => {}) // if it fails, Streamlit reports the error when it needs the script
  }
  const timer = setInterval(look, LOOK)
}
