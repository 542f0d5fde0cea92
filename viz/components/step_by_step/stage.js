// Which matrices stand on the stage of a step, and what stands between them.

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

// What is done to a score, one thing after the other; nothing where it stays as it is.
/** @type {(step: DrawnStep) => string[]} */
function scaling({ root, factor = 1, softcap, bias }) {
  const by = root ? `÷ √${root}` : factor === 1 ? "" : `× ${written(factor, 4)}`
  return [by, softcap ? `cap ${written(softcap)}` : "", bias ? "+ b" : ""].filter(Boolean)
}

// The sign in front of a table; none before the first.
/** @type {(step: DrawnStep, index: number, count: number, texts: Texts) => string} */
export function operatorBefore(step, index, count, texts) {
  if (index === 0) return ""
  if (index < count - 1) return { product: "×", concat: "|", add: "+", times: "⊙", told: step.right ? "×" : "" }[step.kind] ?? ""
  if (step.kind === "apply") return `${step.activation ?? ""} →`.trim()
  if (step.kind === "scale") return `${scaling(step).join(", ")} =`.trim()
  return { product: "=", concat: "=", sum: "Σ =", mask: "+ mask =", softmax: "softmax", gradient: "→", told: step.right && !step.normed ? (step.biased ? "+ b =" : "=") : "→", rotate: texts.turning }[step.kind] ?? "="
}
