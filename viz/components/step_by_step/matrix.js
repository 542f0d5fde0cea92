// Show a matrix as a table: its name and shape, the names of its rows and columns, and its coloured numbers.

import { element } from "../shared/dom.js"
import { hatchImage } from "../shared/hatch.js"
import { css, inkOn, rampColor } from "../shared/theme.js"
import { fill } from "../shared/words.js"
import { columnsOf } from "./arithmetic.js"
import { inCell, written } from "./written.js"
/** @import { Theme, Texts } from "../shared/types" */
/** @import { DrawnMatrix } from "./types" */

// Create the table of a matrix. `turned` transposes it, `edit` makes each cell an input.
/**
 * @param {DrawnMatrix} matrix
 * @param {{ id: string, turned?: boolean, edit?: boolean, texts: Texts, result?: boolean }} how
 */
export function matrixView(matrix, how) {
  const { id, turned = false, edit = false, texts, result = false } = how
  const shown = turned ? transposed(matrix) : matrix
  const name = element("b", { textContent: turned ? `${matrix.name}ᵀ` : matrix.name })
  const size = element("span")
  const head = element("tr", {}, element("td"), ...shown.columns.map((column) => element("th", { scope: "col", title: column, textContent: column })))
  const cells = shown.values.map((row, i) => row.map((_, j) => {
    const cell = element("td", { "data-row": i, "data-column": j })
    if (result && !edit) cell.tabIndex = i || j ? -1 : 0 // the arrow keys move the focus, see cells.js
    if (edit) {
      const label = fill(texts.cell_name, { matrix: matrix.name, row: shown.rows[i], column: shown.columns[j] })
      cell.append(element("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": label }))
    }
    return cell
  }))
  const rows = cells.map((row, i) => element("tr", {}, element("th", { scope: "row", title: shown.rows[i], textContent: shown.rows[i] }), ...row))
  const table = element("table", { className: `matrix ${matrix.side} ${result ? "result" : ""}`, "data-matrix": id, "data-first": Number(matrix.columns[0]) || 0 },
    element("caption", {}, name, size), element("thead", {}, head), element("tbody", {}, ...rows))
  return { id, table, cells, turned, size, names: shown.rows, edit, result }
}

/** @type {(matrix: DrawnMatrix) => DrawnMatrix} */
const transposed = (matrix) => ({
  ...matrix, values: columnsOf(matrix.values), rows: matrix.columns, columns: matrix.rows, shape: [...matrix.shape].reverse(),
})

// Update the numbers and colours, and which cells are highlighted or covered.
/**
 * @param {any} view
 * @param {DrawnMatrix} matrix
 * @param {{ theme: Theme, texts: Texts, lit: any[], covered: (i: number, j: number) => boolean, at: number[] | null }} look
 */
export function paintMatrix(view, matrix, { theme, texts, lit, covered, at }) {
  const shown = view.turned ? transposed(matrix) : matrix
  const most = largestOf(matrix)
  const part = shown.values.length < shown.shape[0] || (shown.values[0] ?? []).length < shown.shape[1]
  const counts = { rows: shown.shape[0], columns: shown.shape[1], shown: shown.values.length, across: (shown.values[0] ?? []).length }
  const shape = part ? fill(texts.shape_part, counts) : shown.shape.join(" × ")
  const size = matrix.most ? `${shape} · ${fill(texts.colors_to, { most: written(matrix.most) })}` : shape
  if (view.size.textContent !== size) view.size.textContent = size
  view.cells.forEach((row, i) => row.forEach((cell, j) => {
    const value = shown.values[i][j]
    const hidden = view.result && covered(i, j)
    const masked = !hidden && !Number.isFinite(value)
    const color = hidden ? theme.secondary : masked ? theme.background : colorOf(value, matrix, most, theme)
    const look = masked ? hatchImage(theme) : css(color)
    if (cell.dataset.look !== look) { // while a slider is dragged most cells do not change
      cell.dataset.look = look
      cell.style.background = look
      cell.style.color = css(hidden ? theme.text : inkOn(color))
    }
    const input = cell.firstElementChild
    if (input) {
      const focused = /** @type {ShadowRoot} */ (input.getRootNode()).activeElement === input
      if (!focused) input.value = inCell(value)
    } else if (cell.textContent !== (hidden ? "?" : inCell(value))) cell.textContent = hidden ? "?" : inCell(value)
    cell.classList.toggle("covered", hidden)
    const [r, c] = view.turned ? [j, i] : [i, j]
    cell.classList.toggle("lit", lit.some((one) => one.matrix === view.id && (one.row ?? r) === r && (one.column ?? c) === c))
    cell.classList.toggle("at", view.result && at !== null && at[0] === i && at[1] === j)
  }))
}

// The number at the end of the colour scale, in both directions: the given one, the same in every picture, or else the
// largest. It has a minimum, so that numbers shown as ≈0 are not strongly coloured (matrices_svg.py has the same).
/** @type {(matrix: DrawnMatrix) => number} */
export const largestOf = (matrix) =>
  matrix.most ?? Math.max(0.05, ...matrix.values.flat().filter(Number.isFinite).map(Math.abs))

/** @type {(value: number, matrix: DrawnMatrix, most: number, theme: Theme) => import("../shared/types").RGB} */
export function colorOf(value, matrix, most, theme) {
  if (matrix.unit === "share") return rampColor(theme.sequential, 0.85 * value)
  return rampColor(theme.diverging, 0.5 + (0.36 * value) / most)
}
