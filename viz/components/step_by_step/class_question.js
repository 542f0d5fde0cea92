// Turn a covered number into a question for the class: the numbers it is computed from, without the result.

import { fill } from "../shared/words.js"
import { explained } from "./explain.js"
import { titleOf } from "./named.js"
import { decimalsInCell, written } from "./written.js"
/** @import { DrawnChain, DrawnMatrix, DrawnStep } from "./types" */
/** @import { Texts } from "../shared/types" */

const DECIMALS = 4
const LARGEST = 1e12 // largest number that can be typed; −∞, ∞ and NaN cannot be

// Whether the number in this cell can be typed and the numbers it is computed from are shown.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number) => boolean} */
export const askable = ({ matrices }, step, i, j) => step.kind !== "model" && Math.abs(matrices[step.result].values[i]?.[j] ?? Number.NaN) <= LARGEST

// The cell's name; a text with the step's title and one line for each group of numbers that are highlighted with it;
// and the number of decimals that it shows.
/** @type {(chain: DrawnChain, step: DrawnStep, i: number, j: number, texts: Texts) => { name: string, text: string, decimals: number }} */
export function classQuestion(chain, step, i, j, texts) {
  const result = chain.matrices[step.result]
  const name = fill(texts.cell_name, { matrix: result.name, row: result.rows[i], column: result.columns[j] })
  const { lit } = explained(chain, step, i, j, texts)
  const made = lit.filter(({ matrix }) => matrix !== step.result).map((one) => partOf(chain.matrices[one.matrix], one))
  const text = [titleOf(step, texts), ...made, ...beside(step, i, j, texts)].join("\n")
  return { name, text, decimals: decimalsInCell(result.values[i][j]) }
}

// "Q, q₂: 1, −0.5, 0"
/** @type {(matrix: DrawnMatrix, place: { row?: number, column?: number }) => string} */
function partOf({ name, values, rows, columns }, { row, column }) {
  const places = [...(row === undefined ? [] : [rows[row]]), ...(column === undefined ? [] : [columns[column]])].join(", ")
  const lines = row === undefined ? values : [values[row]]
  const numbers = lines.flatMap((line) => (column === undefined ? line : [line[column]]))
  return `${name}, ${places}: ${numbers.map((value) => written(value, DECIMALS)).join(", ")}`
}

// A step's inputs other than its matrices: the divisor, an angle, the terms that are not shown.
function beside(step, i, j, texts) {
  const lines = []
  const say = (name, value) => lines.push(`${name} = ${written(value, DECIMALS)}`)
  if (step.root) say("√d", Math.sqrt(step.root))
  else if (step.kind === "scale") say("·", step.factor ?? 1)
  if (step.softcap) say("softcap", step.softcap)
  if (step.bias) say(step.biased ? "b" : texts.bias, step.bias[i][j]) // the bias of a matrix, or the bias for the distance
  if (step.kind === "rotate") {
    say("cos θ", step.cos?.[i][j] ?? 1)
    say("sin θ", Math.abs(step.sin?.[i][j] ?? 0))
  }
  const count = step.more?.[i] ?? 0
  if (count && step.rest) {
    const name = fill(texts[`more_${step.of}`], { count })
    if (step.kind === "softmax") say(`${name}: Σ eˢ`, step.rest[i][0] * Math.exp(step.top?.[i] ?? 0))
    else say(name, step.rest[i][j])
  }
  if (step.less?.[i][j]) say(`${step.normed}: −`, step.less[i][j])
  if (step.times) say(`${step.normed}: ·`, step.times[i][j])
  return lines
}
