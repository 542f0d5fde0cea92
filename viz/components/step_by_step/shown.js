// What a teacher points at, uncovers and turns to, on the pages of those who follow; nothing of it runs the page.

import { chosen } from "../shared/choice.js"
import { pointed } from "../shared/follow.js"
/** @import { State } from "./payload" */

/** @param {State} state */
export function tellShown(state) {
  pointed(state, { step: state.step, at: state.at ?? state.picked, revealed: [...state.revealed] })
}

/**
 * @param {any} state
 * @param {{ step: string, at: [number, number] | null, revealed: string[] }} told
 * @param {(state: State) => void} draw
 */
export function followShown(state, { step, at, revealed }, draw) {
  if (!state.chain.steps.some((one) => one.id === step)) return
  chosen(state, "step", step)
  const drawAnew = step !== state.step
  Object.assign(state, { step, revealed: new Set(revealed) })
  if (drawAnew) draw(state) // which forgets where it was pointed at
  const { values } = state.chain.matrices[state.chain.steps.find((one) => one.id === step).result]
  state.at = at && values[at[0]]?.[at[1]] !== undefined ? at : null
  draw(state)
}
