// Share the row or token of the open head that a reader points at in one figure, so that other figures of the page that
// show the same head highlight it too. This stays in the browser: nothing is sent to the server.

export const ROW = "atlas-row"

/** @typedef {[place: number, label: string] | null} PointedToken
 * A token, or another unit of the text, by its place and its label. A figure with another label there shows another text. */

/** @typedef {{ token?: number, row: number | null, of?: number, query?: PointedToken, key?: PointedToken }} PointedRow
 * `token`: the position of the query token. Or `row`: its index among the `of` queries; null if there is none.
 * `query` and `key`: the query token and the key token under a hovering pointer. */

// Notify the other figures; the sender does not receive its own event.
/** @type {(state: any, at: PointedRow) => void} */
export function rowPointed(state, at) {
  state.telling = true
  dispatchEvent(new CustomEvent(ROW, { detail: at }))
  state.telling = false
}

// Listen for what is pointed at in other figures.
/** @type {(state: any, signal: AbortSignal, heard: (at: PointedRow) => void) => void} */
export function hearRows(state, signal, heard) {
  addEventListener(ROW, (event) => !state.telling && !state.follows && state.meta && heard(/** @type {any} */ (event).detail), { signal })
}

// The token's index in these labels, which start at place `first` of the text; null if it is not among them.
/** @type {(token: PointedToken | undefined, labels: string[], first: number) => number | null} */
export const rowOfToken = (token, labels, first) => (token && labels[token[0] - first] === token[1] ? token[0] - first : null)
