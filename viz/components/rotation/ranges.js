// The ranges that a slider of positions can have, the narrowest first. Which one is in view is held by the host.

import { adopt, chosen, reconcile } from "../shared/choice.js"

/**
 * Ranges by name and count of positions, equal ones once. In view is the one asked for, or a wider one that `position`
 * needs.
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
 * Show another range, and tell the host at once.
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
 * Show the range that somebody else does; false where there is none of this name.
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
