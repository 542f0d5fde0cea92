// Streamlit (1.67) imports Plotly with the first chart that it shows, which then waits for it: half a second of work and
// more. Here it is imported before, once nobody has done anything for a while.

const QUIET = 2000 // milliseconds without an input and without a run of the page
const LOOK = 250 // milliseconds from one look to the next
const INPUTS = ["pointerdown", "pointermove", "wheel", "keydown", "input"]

let asked = ""

// `name` is the script's beside Streamlit's own. `done` is called once it is there.
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
    import(asked).then(done, () => {}) // one that is not there Streamlit misses itself, when it needs it
  }
  const timer = setInterval(look, LOOK)
}
