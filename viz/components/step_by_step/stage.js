// The matrices shown in a step, and the operators between them.

import { written } from "./written.js"

/** @import { DrawnChain, DrawnStep } from "./types" */
/** @import { Texts } from "../shared/types" */

/** @type {(step: DrawnStep, chain: DrawnChain) => { id: string, turned: boolean }[]} */
export function viewsOf(step, { matrices }) {
  const before = [step.left, step.right].filter((id) => id !== undefined)
  return [...(step.parts ?? before), step.result]
    .filter((id, i, all) => matrices[id] && all.indexOf(id) === i)
    .map((id) => ({ id, turned: Boolean(step.turned) && id === step.right }))
}

// The operations on a score in order; empty if it does not change.
/** @type {(step: DrawnStep) => string[]} */
function scaling({ root, factor = 1, softcap, bias }) {
  const by = root ? `÷ √${root}` : factor === 1 ? "" : `× ${written(factor, 4)}`
  return [by, softcap ? `cap ${written(softcap)}` : "", bias ? "+ b" : ""].filter(Boolean)
}

// The operator in front of a table; empty for the first.
/** @type {(step: DrawnStep, index: number, count: number, texts: Texts) => string} */
export function operatorBefore(step, index, count, texts) {
  if (index === 0) return ""
  if (index < count - 1) return { product: "×", concat: "|", add: "+", times: "⊙", told: step.right ? "×" : "" }[step.kind] ?? ""
  if (step.kind === "apply") return `${step.activation ?? ""} →`.trim()
  if (step.kind === "scale") return `${scaling(step).join(", ")} =`.trim()
  return { product: "=", concat: "=", sum: "Σ =", mask: "+ mask =", softmax: "softmax", gradient: "→", told: step.right && !step.normed ? (step.biased ? "+ b =" : "=") : "→", rotate: texts.turning }[step.kind] ?? "="
}
