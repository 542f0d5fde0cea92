// Mirror what a teacher points at, uncovers, opens, adjusts and types on the followers' pages, without a page run.

import { adopt } from "../shared/choice.js"
import { pointed } from "../shared/follow.js"
import { compute } from "./chain.js"
import { takeOver } from "./typing.js"
/** @import { DrawnChain, Shown, State } from "./types" */

/** @param {State} state */
export function tellShown(state) {
  const { meta, step, at, picked, revealed, ask, edits, knobs } = state
  pointed(state, { of: pictureOf(state, step), step, at: at ?? picked, revealed: [...revealed], ask, edits: edits === meta.edits ? null : edits, knobs })
}

// Identify the picture: the steps, and the shape of this step's result.
/** @type {(state: State, step: string) => string} */
function pictureOf({ chain }, step) {
  const { result = "" } = chain.steps.find((one) => one.id === step) ?? {}
  return [...chain.steps.map(({ id }) => id), ...(chain.matrices[result]?.shape ?? [])].join()
}

/**
 * @param {State} state
 * @param {Shown} shown
 * @param {(state: State) => void} draw
 */
export function followShown(state, shown, draw) {
  const { of, step, at, revealed } = shown
  const open = state.chain.steps.find((one) => one.id === step)
  if (!open || of !== pictureOf(state, step)) return
  takeNumbers(state, shown)
  adopt(state, "step", step)
  const drawAnew = step !== state.step
  Object.assign(state, { step, revealed: new Set(revealed) })
  if (drawAnew) draw(state) // this resets what is pointed at
  const { values } = state.chain.matrices[open.result]
  state.at = at && values[at[0]]?.[at[1]] !== undefined ? at : null
  draw(state)
}

// Take over typed numbers, knob positions and whether numbers are covered, before the host knows of them.
/** @type {(state: State, shown: Shown) => void} */
function takeNumbers(state, { ask, edits, knobs }) {
  const { meta } = state
  const before = [state.edits, state.knobs]
  const known = { ask, edits: edits ?? meta.edits, knobs: haveThese(meta.chain, knobs) ? knobs : state.knobs }
  for (const [name, value] of Object.entries(known)) adopt(state, name, value)
  Object.assign(state, known)
  if (JSON.stringify(before) === JSON.stringify([known.edits, known.knobs])) return
  compute(state)
  takeOver(state)
}

// Whether these are the knobs of this chain, each with a valid value.
/** @type {(chain: DrawnChain | null, at: Record<string, number>) => boolean} */
function haveThese(chain, at) {
  const knobs = chain?.knobs ?? []
  const fits = ({ name, values, least, most }) => (values ? values.includes(at[name]) : at[name] >= least && at[name] <= most)
  return Object.keys(at).length === knobs.length && knobs.every(fits)
}
