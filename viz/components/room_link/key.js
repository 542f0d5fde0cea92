// The key of the teacher's room, kept by his tab alone, through loads: who brings it is given that room back.

const KEPT = "atlas-room-taught"

/** @type {() => string | null} */
export function keptKey() {
  try {
    return sessionStorage.getItem(KEPT)
  } catch {
    return null // a browser that keeps nothing
  }
}

/** @type {(key: string) => void} */
export function keepKey(key) {
  try {
    sessionStorage.setItem(KEPT, key)
  } catch {
    // then a room is this page's, and gone with it
  }
}

export function forgetKey() {
  try {
    sessionStorage.removeItem(KEPT)
  } catch {
    // nothing was kept
  }
}
