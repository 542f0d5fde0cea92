// The key of the teacher's room, kept by his tab alone, through loads: who brings it is given that room back. A cookie
// says beside that this browser may have one: it comes with the load, before this script has run.

const KEPT = "atlas-room-taught"
const TEACHES = "atlas-teaches" // as room_link.py
const HOURS = 6 // a lesson, and the next one

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
  teaches(HOURS * 3600)
  try {
    sessionStorage.setItem(KEPT, key)
  } catch {
    // then a room is this page's, and gone with it
  }
}

export function forgetKey() {
  teaches(0)
  try {
    sessionStorage.removeItem(KEPT)
  } catch {
    // nothing was kept
  }
}

/** @type {(seconds: number) => void} */
function teaches(seconds) {
  const secure = location.protocol === "https:" ? "; secure" : ""
  document.cookie = `${TEACHES}=1; path=/; max-age=${seconds}; samesite=lax${secure}`
}
