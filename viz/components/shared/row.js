// A row of the open head that a reader points at in one figure of a page: others that show the same head shade by it.

export const ROW = "atlas-row"

/** @typedef {{ token?: number, row: number | null, of?: number }} PointedRow
 * `token`: the position of the one that looks. Or `row`, counted from the first that looks, `of` so many; null: none is. */

/** @type {(at: PointedRow) => void} */
export const rowPointed = (at) => void dispatchEvent(new CustomEvent(ROW, { detail: at }))
