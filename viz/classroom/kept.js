// What the browser stores about a room, by the room's code: the server it was on. A typed name is stored only by its
// tab, until that is closed.

/** @type {Map<string, string>} */
const here = new Map() // in a browser without storage

const named = (/** @type {string} */ code, /** @type {string} */ what) => `atlas-room-${what}-${code.toUpperCase()}`

/** @type {(code: string, what: string) => string | null} */
export function known(code, what) {
  const name = named(code, what)
  try {
    return localStorage.getItem(name) ?? here.get(name) ?? null
  } catch {
    return here.get(name) ?? null
  }
}

/** @type {(code: string) => { known: () => string, keep: (name: string) => void }} */
export function nameIn(code) {
  const name = named(code, "name")
  return {
    known() {
      try {
        return sessionStorage.getItem(name) ?? here.get(name) ?? ""
      } catch {
        return here.get(name) ?? ""
      }
    },
    keep(value) {
      here.set(name, value)
      try {
        sessionStorage.setItem(name, value)
      } catch {
        // as long as the page is open
      }
    },
  }
}

/** @type {(code: string, what: string, value: string) => string} */
export function keep(code, what, value) {
  const name = named(code, what)
  here.set(name, value)
  try {
    localStorage.setItem(name, value)
  } catch {
    // as long as the page is open
  }
  return value
}
