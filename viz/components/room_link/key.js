// The key of the teacher's room, kept across reloads in the session storage of the teacher's tab only. Whoever presents
// it gets the room back. In addition, a cookie marks that this browser may have a key: the server receives it when the
// page loads, before this script has run.

const KEPT = "atlas-room-taught"
const TEACHES = "atlas-teaches" // same as in room_link.py
const HOURS = 6 // a lesson, and the next one

/** @type {() => string | null} */
export function keptKey() {
  try {
    return sessionStorage.getItem(KEPT)
  } catch {
    return null // a browser that forbids storage
  }
}

/** @type {(key: string) => void} */
export function keepKey(key) {
  teaches(HOURS * 3600)
  try {
    sessionStorage.setItem(KEPT, key)
  } catch {
    // without storage, a reload loses the room
  }
}

export function forgetKey() {
  teaches(0)
  try {
    sessionStorage.removeItem(KEPT)
  } catch {
    // nothing was stored
  }
}

/** @type {(seconds: number) => void} */
function teaches(seconds) {
  const secure = location.protocol === "https:" ? "; secure" : ""
  document.cookie = `${TEACHES}=1; path=/; max-age=${seconds}; samesite=lax${secure}`
}
