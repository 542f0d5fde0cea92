// The ranges of a position slider, narrowest first. The host stores which one is shown.

import { adopt, chosen, reconcile } from "../shared/choice.js"

/**
 * Set the ranges from names and position counts, without duplicates. Shows the requested range, or a wider one if
 * `position` needs it.
 * @param {any} state
 * @param {Record<string, number>} counts
 * @param {string} asked
 * @param {number} position
 */
export function setRanges(state, counts, asked, position) {
  const ranges = Object.entries(counts).filter(([, count], i, all) => i === 0 || count !== all[i - 1][1])
  state.ranges = ranges.map(([name]) => name)
  state.ends = ranges.map(([, count]) => count - 1)
  const wanted = state.ranges.indexOf(reconcile(state, "span", asked))
  const needed = state.ends.findIndex((end) => position <= end)
  state.span = needed < 0 ? state.ends.length - 1 : Math.max(wanted, needed)
}

/**
 * Show another range and notify the host at once.
 * @param {any} state
 * @param {number} i
 */
export function takeRange(state, i) {
  if (i === state.span) return
  state.span = i
  chosen(state, "span", state.ranges[i])
  state.send("span", state.ranges[i])
}

/**
 * Show the range that another user chose; returns false if there is no range of this name.
 * @param {any} state
 * @param {string} range
 */
export function adoptRange(state, range) {
  const i = state.ranges.indexOf(range)
  if (i < 0) return false
  if (i !== state.span) adopt(state, "span", range)
  state.span = i
  return true
}
