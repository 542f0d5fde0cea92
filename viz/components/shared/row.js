// What of the open head a reader points at in one figure of a page: others that show the same head light it too. It is of
// the browser alone: no server hears of it.

export const ROW = "atlas-row"

/** @typedef {[place: number, label: string] | null} PointedToken
 * A token, or another unit of the text, by its place and its label: a figure that has another there shows something else. */

/** @typedef {{ token?: number, row: number | null, of?: number, query?: PointedToken, key?: PointedToken }} PointedRow
 * `token`: the position of the one that looks. Or `row`, counted from the first that looks, `of` so many; null: none is.
 * `query` and `key`: what looks and what is looked at there, of a pointer that hovers. */

// Tell the others; the figure that tells does not hear itself.
/** @type {(state: any, at: PointedRow) => void} */
export function rowPointed(state, at) {
  state.telling = true
  dispatchEvent(new CustomEvent(ROW, { detail: at }))
  state.telling = false
}

// Hear what is pointed at in other figures.
/** @type {(state: any, signal: AbortSignal, heard: (at: PointedRow) => void) => void} */
export function hearRows(state, signal, heard) {
  addEventListener(ROW, (event) => !state.telling && !state.follows && state.meta && heard(/** @type {any} */ (event).detail), { signal })
}

// Where in these labels, which begin at a place of the text, the token is; null where it is not.
/** @type {(token: PointedToken | undefined, labels: string[], first: number) => number | null} */
export const rowOfToken = (token, labels, first) => (token && labels[token[0] - first] === token[1] ? token[0] - first : null)
