// How a label stands over a narrow column: upright where it fits, and a single letter always; letters that are also
// written downwards, one below the other; others turned.

const DOWNWARDS = /^[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef·]+$/

/** @type {(label: string, width: number, room: number) => "upright" | "stacked" | "turned"} */
export function stance(label, width, room) {
  if (width <= room || [...label].length === 1) return "upright"
  return DOWNWARDS.test(label) ? "stacked" : "turned"
}

// The letters that stand below one another, as many as there is room for, the last of them … where some are left out. The
// dot of a space is none of them.
/** @type {(label: string, most: number) => string[]} */
export function stackOf(label, most) {
  const letters = [...label].filter((letter) => letter !== "·")
  return letters.length > most ? [...letters.slice(0, Math.max(0, most - 1)), "…"] : letters
}
