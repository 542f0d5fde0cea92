// The chain to draw: the host's or the small one, including the reader's changes that the host has not answered yet.

import { smallChain } from "./arithmetic.js"
import { withEdits } from "./edits.js"
import { feedForwardChain } from "./feed_forward.js"
import { followed, knobsOf, usualOf } from "./live.js"
/** @import { DrawnChain, FeedForwardNumbers, State } from "./types" */

/** @param {State} state */
export function compute(state) {
  const { meta } = state
  state.usual = meta.usual ?? usualOf(meta.chain, state.knobs)
  state.numbers = withEdits(state.usual, state.edits)
  if (meta.settings.activation) state.chain = feedForwardChain(/** @type {FeedForwardNumbers} */ (/** @type {unknown} */ (state.numbers)), meta.settings)
  else if (meta.usual) state.chain = smallChain(state.numbers, meta.settings)
  else if (meta.chain) state.chain = withMasks(meta.chain)
  const { live } = state.chain
  const ahead = state.edits !== meta.edits || JSON.stringify(state.knobs) !== JSON.stringify(knobsOf(meta.chain))
  if (live && ahead) state.chain = followed(state.chain, state.numbers[live.row][0], state.knobs)
  if (!state.chain.steps.some((step) => step.id === state.step)) state.step = state.chain.steps[0].id
}

// Restore −∞, ∞ and NaN, which JSON does not have.
/** @type {(chain: DrawnChain) => DrawnChain} */
const withMasks = ({ matrices, ...rest }) => ({
  ...rest,
  matrices: Object.fromEntries(Object.entries(matrices).map(([name, one]) => [name, { ...one, values: one.values.map((row) => row.map((value) => (value === null ? -Infinity : Number(value)))) }])),
})
