// Preview the results when a slider is dragged or a number of a row is typed, until the host's numbers arrive.

import { fill } from "../shared/words.js"
import { softmax } from "./arithmetic.js"
import { naive, rounded, safe } from "./ways.js"
import { written } from "./written.js"
/** @import { DrawnChain, DrawnKnob, Live, Rows } from "./types" */

/** @type {(chain: DrawnChain | null) => Record<string, number>} */
export const knobsOf = (chain) => Object.fromEntries((chain?.knobs ?? []).map(({ name, value }) => [name, value]))

// The editable numbers of a chain without edits, at the current positions of the knobs.
/** @type {(chain: DrawnChain | null, knobs: Record<string, number>) => any} */
export function usualOf(chain, knobs) {
  const found = Object.entries(chain?.matrices ?? {}).flatMap(([name, { usual }]) => (usual ? [[name, usual]] : []))
  const { live, knobs: all } = chain ?? {}
  return { ...Object.fromEntries(found), ...(live && all ? { [live.row]: [usualRow(live, all[0], knobs)] } : {}) }
}

/** @type {(live: Live, knob: DrawnKnob, knobs: Record<string, number>) => number[]} */
function usualRow({ usual }, { name, values }, knobs) {
  return values ? usual[values.indexOf(knobs[name])] : usual[0].map((share) => share * knobs[name])
}

// The chain with these numbers in its first row. The explanations of single numbers come with the host's answer.
/** @type {(chain: DrawnChain, row: number[], knobs: Record<string, number>) => DrawnChain} */
export function followed(chain, row, knobs) {
  const { live } = chain
  if (!live) return chain
  const { values, step, words } = FOLLOW[live.kind](live, row, knobs)
  const matrices = Object.fromEntries(Object.entries(chain.matrices).map(([name, one]) => [name, { ...one, values: values[name] ?? one.values }]))
  const steps = chain.steps.map((one) => ({
    ...one, ...(one.kind === "scale" ? step : {}), ...(one.id in live.notes ? { note: fill(live.notes[one.id], words) } : {}), lines: undefined,
  }))
  return { ...chain, matrices, steps }
}

/** @type {Record<string, (live: Live, row: number[], knobs: Record<string, number>) => { values: Record<string, Rows>, step: object, words: Record<string, unknown> }>} */
const FOLLOW = { scale: scaledRow, softmax: everyWay }

function scaledRow({ scaled }, row, knobs) {
  const { wide = 1, temperature = 1 } = knobs
  const factor = (scaled ? 1 / Math.sqrt(wide) : 1) / temperature
  const scores = row.map((value) => value * factor)
  const shares = softmax(scores)
  const gradient = shares.map((one, i) => shares.map((other, j) => (i === j ? one : 0) - one * other))
  const root = scaled && temperature === 1 ? wide : null
  return { values: { P: [row], C: [scores], A: [shares], G: gradient }, step: { factor, root }, words: { d: wide, factor: written(factor, 4) } }
}

function everyWay({ dtype }, row) {
  const scores = row.map((score) => rounded(score, dtype))
  const [plain, taken] = [naive(scores, dtype), safe(scores, dtype)]
  /** @type {Rows} */
  const reads = [[], []]
  let [largest, total] = [-Infinity, 0]
  for (const score of scores) {
    const most = Math.max(largest, score)
    total = (largest === -Infinity ? 0 : total * Math.exp(largest - most)) + Math.exp(score - most)
    largest = most
    reads[0].push(largest)
    reads[1].push(total)
  }
  const onePass = scores.map((score) => Math.exp(score - largest) / total)
  const values = { S: [scores], E: [plain.powers], N: [plain.shares], B: [taken.powers], A: [taken.shares], L: [taken.logs], O: [onePass], R: reads }
  return { values, step: {}, words: {} }
}
