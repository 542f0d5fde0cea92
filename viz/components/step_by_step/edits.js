// Numbers that the reader changed, in the format of the URL: X01_1.5~Q00_-2, that is, the matrix, its row and column,
// and the number. S and P are the rows of two separate views: scores of a softmax, and products of random vectors. G,
// F, B, D and E are the matrices and biases of a feed-forward part.

/** @import { Numbers } from "./types" */

const LETTERS = { X: "X", Q: "WQ", K: "WK", V: "WV", O: "WO", S: "S", P: "P", G: "WG", F: "W1", B: "B1", D: "W2", E: "B2" }
const EDIT = /^([XQKVOSPGFBDE])(\d)(\d)_(-?\d+(?:\.\d+)?(?:e-?\d+)?)$/

/** @type {(edits: string) => [matrix: string, row: number, column: number, value: number][]} */
const readEdits = (edits) =>
  edits.split("~").flatMap((edit) => {
    const found = EDIT.exec(edit)
    return found ? [[LETTERS[found[1]], Number(found[2]), Number(found[3]), Number(found[4])]] : []
  })

// The default numbers with these changes, ignoring places that do not exist.
/** @type {(usual: Numbers, edits: string) => Numbers} */
export function withEdits(usual, edits) {
  const numbers = /** @type {Numbers} */ (Object.fromEntries(Object.entries(usual).map(([name, rows]) => [name, rows.map((row) => [...row])])))
  for (const [name, row, column, value] of readEdits(edits)) {
    if (numbers[name]?.[row]?.[column] !== undefined) numbers[name][row][column] = value
  }
  return numbers
}

// The edits of other matrices than these.
/** @type {(edits: string, usual: Numbers) => string} */
export const without = (edits, usual) =>
  edits.split("~").filter((edit) => edit && !(LETTERS[edit[0]] in usual)).join("~")

// The edits with one more. Edits of places that do not exist at the moment, for example those of a longer text, are
// kept.
/** @type {(edits: string, usual: Numbers, name: string, row: number, column: number, value: number) => string} */
export function edited(edits, usual, name, row, column, value) {
  const letter = Object.keys(LETTERS).find((one) => LETTERS[one] === name)
  const place = `${letter}${row}${column}_`
  const others = edits.split("~").filter((edit) => edit && !edit.startsWith(place))
  return [...others, ...(usual[name][row][column] === value ? [] : [`${place}${value}`])].sort().join("~")
}
