// How to draw a label over a narrow column. A label that fits, or that is a single letter, stays upright. Scripts that
// can be written vertically are stacked, one letter below another; other labels are turned.

const DOWNWARDS = /^[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef·]+$/

const [LABELS_APART, LAST_BEYOND] = [3, 8] // px: between two labels; by how much the last label may exceed its column, both sides together

/** @type {(label: string, width: number, room: number) => "upright" | "stacked" | "turned"} */
export function stance(label, width, room) {
  if (width <= room || [...label].length === 1) return "upright"
  return DOWNWARDS.test(label) ? "stacked" : "turned"
}

// How to draw all labels of one edge. They are upright if no label touches its neighbour, even if one is wider than its
// column. If one has to be turned, the others are turned to match, except single letters and stacked labels.
/** @type {(labels: string[], widths: number[], pitch: number) => ("upright" | "stacked" | "turned")[]} */
export function stances(labels, widths, pitch) {
  if (labels.every((_, i) => (widths[i] + (widths[i + 1] ?? pitch - LAST_BEYOND)) / 2 + LABELS_APART <= pitch)) return labels.map(() => "upright")
  const alone = labels.map((label, i) => stance(label, widths[i], pitch - LABELS_APART))
  if (!alone.includes("turned")) return alone
  return alone.map((stands, i) => (stands === "upright" && [...labels[i]].length > 1 && !DOWNWARDS.test(labels[i]) ? "turned" : stands))
}

// The letters of a stacked label, at most `most`; the last one is … where some are left out. The dot that marks a space
// is dropped.
/** @type {(label: string, most: number) => string[]} */
export function stackOf(label, most) {
  const letters = [...label].filter((letter) => letter !== "·")
  return letters.length > most ? [...letters.slice(0, Math.max(0, most - 1)), "…"] : letters
}
