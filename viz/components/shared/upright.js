// How a label stands over a narrow column: upright where it fits, and a single letter always; letters that are also
// written downwards, one below the other; others turned.

const DOWNWARDS = /^[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef·]+$/

const [LABELS_APART, LAST_BEYOND] = [3, 8] // px between two labels, and that the last one may reach beyond its column, both sides together

/** @type {(label: string, width: number, room: number) => "upright" | "stacked" | "turned"} */
export function stance(label, width, room) {
  if (width <= room || [...label].length === 1) return "upright"
  return DOWNWARDS.test(label) ? "stacked" : "turned"
}

// How all labels of one edge stand: upright where none meets its neighbour, though one be wider than its column. Where one
// has to be turned, so are the others, in one look, but for single letters and those that are written downwards.
/** @type {(labels: string[], widths: number[], pitch: number) => ("upright" | "stacked" | "turned")[]} */
export function stances(labels, widths, pitch) {
  if (labels.every((_, i) => (widths[i] + (widths[i + 1] ?? pitch - LAST_BEYOND)) / 2 + LABELS_APART <= pitch)) return labels.map(() => "upright")
  const alone = labels.map((label, i) => stance(label, widths[i], pitch - LABELS_APART))
  if (!alone.includes("turned")) return alone
  return alone.map((stands, i) => (stands === "upright" && [...labels[i]].length > 1 && !DOWNWARDS.test(labels[i]) ? "turned" : stands))
}

// The letters that stand below one another, as many as there is room for, the last of them … where some are left out. The
// dot of a space is none of them.
/** @type {(label: string, most: number) => string[]} */
export function stackOf(label, most) {
  const letters = [...label].filter((letter) => letter !== "·")
  return letters.length > most ? [...letters.slice(0, Math.max(0, most - 1)), "…"] : letters
}
