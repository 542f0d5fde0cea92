// The title and the description of a step. A mask that hides nothing and a division by 1 have titles of their own.

/** @import { DrawnStep } from "./types" */
/** @import { Texts } from "../shared/types" */

/** @type {(step: DrawnStep) => string} */
function nameOf(step) {
  if (step.kind === "mask" && !step.causal) return "unmasked"
  return step.kind === "scale" && step.factor === 1 ? "unscaled" : step.id
}

/** @type {(step: DrawnStep, texts: Texts) => string} */
export const titleOf = (step, texts) => step.title ?? texts[`step_${nameOf(step)}`] ?? ""

/** @type {(step: DrawnStep, texts: Texts) => string} */
export const aboutOf = (step, texts) => step.note ?? texts[`about_${nameOf(step)}`] ?? ""
