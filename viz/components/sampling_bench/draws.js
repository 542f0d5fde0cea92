// Draw from the final distribution. The random numbers do not depend on the settings, so moving a slider changes only
// which tokens they select.

import { element } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { fill, formatPlain, isolate, wholeNumber } from "../shared/words.js"
import { benches } from "./settings.js"
import { chiSquared } from "./stages.js"
import { uniformsOf } from "./uniforms.js"
/** @import { State } from "./types" */

export const LATEST = 12 // most recently drawn tokens that are listed
const DRAWING = 700 // milliseconds for which the counts are animated

export function buildDraws(state) {
  state.drawWord = element("b")
  state.drawButtons = [1, 10, 1000].map((count) => {
    const button = element("button", { type: "button", className: "draw", textContent: `+${wholeNumber(count)}` })
    button.addEventListener("click", () => state.act.draw(count))
    return button
  })
  state.clearButton = element("button", { type: "button", className: "quiet clear" })
  state.clearButton.addEventListener("click", () => state.act.draw(null))
  state.seedWord = element("label", { for: "bench-seed" })
  state.seed = element("input", { type: "text", id: "bench-seed", className: "value", inputmode: "numeric", autocomplete: "off" })
  state.seed.addEventListener("change", () => state.act.seed(state.seed.value))
  state.seedProblem = element("p", { className: "problem", role: "alert", hidden: true })
  state.drawnWord = element("span", { className: "drawn-count" })
  state.latest = element("p", { className: "latest" })
  state.chi = element("p", { className: "chi" })
  const row = element("div", { className: "draw-row" }, state.drawWord, ...state.drawButtons, state.clearButton,
    element("span", { className: "seeding" }, state.seedWord, state.seed), state.drawnWord)
  return element("div", { className: "draws" }, row, state.seedProblem, state.latest, state.chi)
}

/** @param {State} state */
export function labelDraws(state) {
  const { texts } = state.meta
  state.drawWord.textContent = texts.draw
  state.clearButton.textContent = texts.clear
  state.seedWord.textContent = texts.seed
  for (const button of state.drawButtons) button.setAttribute("aria-label", `${texts.draw} ${button.textContent}`)
}

// All random numbers that can be needed, computed once per seed and position.
/** @param {State} state */
export function numbersOf(state, seed) {
  const { position, most_draws: most } = state.meta
  const key = `${seed}:${position}`
  if (state.numbers?.key !== key) state.numbers = { key, values: uniformsOf(seed, position, most) }
  return state.numbers.values
}

// Animate the draws, unless the reader prefers reduced motion.
export function animateDraws(state, from, to) {
  cancelAnimationFrame(state.drawing)
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches || to - from < 2
  const start = performance.now()
  const step = () => {
    const share = still ? 1 : clamp((performance.now() - start) / DRAWING, 0, 1)
    state.draws = share === 1 ? to : from + Math.max(1, Math.floor((to - from) * share ** 2))
    state.repaint()
    if (share < 1) state.drawing = requestAnimationFrame(step)
  }
  step()
}

/** @param {State} state */
export function paintDraws(state) {
  const { texts, labels, most_draws: most } = state.meta
  const shown = benches(state).filter((bench) => state.results[bench].counts)
  state.clearButton.disabled = state.goal === 0
  state.drawButtons.forEach((button) => (button.disabled = state.goal >= most))
  if (!state.seedTyping) state.seed.value = state.settings.a.seed
  state.drawnWord.textContent = state.goal >= most ? fill(texts.most_drawn, { count: wholeNumber(most) }) : state.draws ? fill(texts.drawn, { count: wholeNumber(state.draws) }) : ""
  const named = (bench) => state.results[bench].latest.map((token) => isolate(labels[token])).join(" ")
  const lines = shown.map((bench) => (state.compare ? `${bench.toUpperCase()}: ` : "") + (state.draws > LATEST ? "… " : "") + named(bench))
  state.latest.textContent = state.draws ? lines.join("\n") : texts.none_drawn
  state.latest.classList.toggle("nothing", !state.draws)
  state.chi.textContent = state.draws ? shown.map((bench) => chiWords(state, bench)).join("\n") : ""
  state.chi.title = texts.chi_about
}

// χ² of the draws. Tokens with an expected count below 5, for which χ² is unreliable, are pooled.
function chiOfDraws({ counts, final }, draws) {
  const pooled = { counts: [0], probabilities: [0] }
  for (let token = 0; token < final.length; token++) {
    const often = draws * final[token] >= 5
    const at = often ? pooled.counts.length : 0
    pooled.counts[at] = (pooled.counts[at] ?? 0) + counts[token]
    pooled.probabilities[at] = (pooled.probabilities[at] ?? 0) + final[token]
  }
  return chiSquared(pooled.counts, pooled.probabilities, draws)
}

/** @param {State} state */
function chiWords(state, bench) {
  const { texts } = state.meta
  const { value, freedom } = chiOfDraws(state.results[bench], state.draws)
  const name = state.compare ? `${bench.toUpperCase()}: ` : ""
  if (freedom < 1) return name + texts.chi_none
  return name + fill(texts.chi, { value: formatPlain(value), freedom: wholeNumber(freedom), spread: wholeNumber(Math.round(Math.sqrt(2 * freedom))) })
}
