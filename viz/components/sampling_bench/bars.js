// Bars of the most likely tokens: the outline is the model's own probability, the filled bar the probability after the
// settings.

import { closest, element } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { benches, bits, chance, LEAST, LEAST_REST } from "./settings.js"
/** @import { State } from "./types" */

const SETTLED = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1] // probabilities that a full-length bar can represent
const MIDDLE_FITS = 110 // pixels of an axis with room for a third number

/** @param {State} state */
export function buildBars(state) {
  state.barsTitle = element("span", { className: "after" })
  state.wentOn = element("button", { type: "button", className: "went-on" })
  state.wentOn.addEventListener("click", () => state.act.mark(state.meta.actual))
  state.legend = element("div", { className: "legend", "aria-hidden": "true" })
  state.axes = { a: element("div", { className: "axis a", "aria-hidden": "true" }), b: element("div", { className: "axis b", "aria-hidden": "true" }) }
  state.cuts = { a: element("div", { className: "cut a", "aria-hidden": "true" }), b: element("div", { className: "cut b", "aria-hidden": "true" }) }
  state.barList = element("div", { className: "bar-list", role: "listbox", tabIndex: 0 })
  state.barRows = []
  state.restRow = barRow()
  state.restRow.node.classList.add("rest")
  state.restRow.node.setAttribute("role", "presentation")
  state.barList.addEventListener("click", (event) => {
    const node = closest(event, "[data-token]")
    if (node) state.act.mark(Number(node.dataset.token), { toggle: true })
  })
  state.barList.addEventListener("keydown", (event) => onBarKey(state, event))
  const heads = element("div", { className: "axes" }, element("span"), state.axes.a, state.axes.b)
  const area = element("div", { className: "bar-area" }, state.barList, state.restRow.node, state.cuts.a, state.cuts.b)
  return [element("div", { className: "picture-head" }, state.barsTitle, state.wentOn), state.legend, heads, area]
}

function barRow() {
  const row = { label: element("bdi", { className: "label" }), tracks: {}, token: -1 }
  for (const bench of ["a", "b"]) {
    const parts = {
      own: element("i", { className: "own" }), final: element("i", { className: "final" }),
      drawn: element("i", { className: "drawn" }), amount: element("span", { className: "amount" }), times: element("span", { className: "times" }),
    }
    const lane = element("span", { className: "lane" }, parts.own, parts.final, parts.drawn)
    row.tracks[bench] = { ...parts, node: element("span", { className: `track ${bench}` }, lane, parts.amount, parts.times) }
  }
  row.node = element("div", { className: "bar-row", role: "option" }, row.label, row.tracks.a.node, row.tracks.b.node)
  return row
}

function onBarKey(state, event) {
  const at = state.shown.indexOf(state.find)
  const moves = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, Home: 0, End: state.shown.length - 1 }
  if (event.key in moves) state.act.mark(state.shown[clamp(moves[event.key], 0, state.shown.length - 1)])
  else if (event.key === "Escape") state.act.mark(null)
  else return
  event.preventDefault()
  event.stopPropagation()
}

// ---- which tokens ---------------------------------------------------------------------------------------------------

// The first tokens of the model's own ranking. The last rows are for tokens that are likely after the settings, marked,
// or the actual next token, but not among the first.
/** @param {State} state */
function shownTokens(state, count) {
  const first = Array.from(state.order.subarray(0, count))
  const wanted = [state.find, state.meta.actual, ...benches(state).flatMap((bench) => Array.from(state.results[bench].likeliest))]
  const extra = [...new Set(wanted)].filter((token) => token !== null && !first.includes(token))
  const kept = extra.slice(0, Math.max(1, count >> 1))
  const all = [...first.slice(0, count - kept.length), ...kept]
  return all.sort((x, y) => state.rank[x] - state.rank[y])
}

// The scale of the bars. While a slider is dragged, it only grows, so that no bar exceeds the picture.
function scaleOf(state, most) {
  const wanted = SETTLED.find((end) => most <= end * 1.0001) ?? 1
  state.scale = state.dragging && state.scale ? Math.max(state.scale, wanted) : wanted
  return state.scale
}

// ---- painting -------------------------------------------------------------------------------------------------------

/** @param {State} state */
export function paintBars(state) {
  const { results } = state
  const shown = benches(state)
  state.root.classList.toggle("comparing", state.compare)
  state.root.classList.toggle("undrawn", !state.draws)
  const tokens = (state.shown = shownTokens(state, Math.min(state.order.length, state.narrow ? 8 : 15)))
  while (state.barRows.length < tokens.length) {
    const row = barRow()
    state.barRows.push(row)
    state.barList.append(row.node)
  }
  const heights = tokens.flatMap((token) => [state.own[token], ...shown.flatMap((bench) => [results[bench].final[token], frequency(state, bench, token)])])
  const scale = scaleOf(state, Math.max(...heights))
  state.barRows.forEach((row, i) => {
    row.node.hidden = i >= tokens.length
    if (i < tokens.length) paintBar(state, row, i, scale)
  })
  paintRest(state, scale)
  for (const bench of ["a", "b"]) {
    paintAxis(state, bench, scale)
    paintCut(state, bench)
  }
}

/** @param {State} state */
function paintBar(state, row, i, scale) {
  const token = state.shown[i]
  const label = state.meta.labels[token]
  if (row.token !== token) {
    row.token = token
    row.label.textContent = label
    row.label.title = label
    row.node.dataset.token = String(token)
  }
  row.node.classList.toggle("gap", i > 0 && state.rank[token] > state.rank[state.shown[i - 1]] + 1)
  row.node.classList.toggle("marked", token === state.find)
  row.node.classList.toggle("actual", token === state.meta.actual)
  row.node.setAttribute("aria-selected", String(token === state.find))
  const removed = benches(state).every((bench) => !state.results[bench].keeps[token])
  row.node.classList.toggle("removed", removed)
  const said = benches(state).map((bench) => chanceOrRemoved(state, bench, token)).join(" / ")
  row.node.setAttribute("aria-description", fill(state.meta.texts.summary_token, { label, percent: said }))
  for (const bench of benches(state)) {
    const count = state.results[bench].counts?.[token] ?? 0
    const { final, keeps } = state.results[bench]
    paintTrack(state, row.tracks[bench], { own: state.own[token], final: final[token], below: keeps[token] ? LEAST : null, count }, scale)
  }
}

/** @param {State} state */
export function chanceOrRemoved(state, bench, token) {
  const { final, keeps } = state.results[bench]
  return keeps[token] ? chance(final[token], state.meta.texts, LEAST) : state.meta.texts.legend_removed
}

/** @param {State} state */
function paintTrack(state, track, { own, final, below, count }, scale) {
  const { texts } = state.meta
  const width = (p) => `${clamp((100 * p) / scale, 0, 100).toFixed(3)}%`
  track.node.classList.toggle("gone", below === null)
  const cut = Math.max(own, final) > scale * 1.0001 // only the bar of all others together: the scale is chosen for single tokens
  track.node.classList.toggle("cut-off", cut)
  track.node.title = cut ? texts.cut_off : ""
  track.own.style.width = width(own)
  track.final.style.width = width(final)
  track.amount.textContent = chance(final, texts, below)
  track.drawn.hidden = count === 0
  track.drawn.style.left = width(state.draws ? count / state.draws : 0)
  track.times.textContent = state.draws && below !== null ? fill(texts.times, { count: wholeNumber(count) }) : ""
}

/** @param {State} state */
function paintRest(state, scale) {
  const others = state.order.length - state.shown.length
  state.restRow.node.hidden = others === 0
  state.restRow.label.textContent = fill(others === 1 ? state.meta.texts.rest_one : state.meta.texts.rest, { count: wholeNumber(others) })
  const beyond = (values) => Math.max(0, state.shown.reduce((left, token) => left - values[token], 1))
  for (const bench of benches(state)) {
    const result = state.results[bench]
    const seen = result.counts ? state.shown.reduce((sum, token) => sum + result.counts[token], 0) : state.draws
    // subtracting from 1 leaves rounding errors, so the number is 0 only if no other token is kept
    const stays = result.kept > state.shown.filter((token) => result.keeps[token]).length
    const final = stays ? beyond(result.final) : 0
    paintTrack(state, state.restRow.tracks[bench], { own: beyond(state.own), final, below: stays ? LEAST_REST : null, count: state.draws - seen }, scale)
  }
}

/** @param {State} state */
function paintAxis(state, bench, scale) {
  const axis = state.axes[bench]
  if (axis.childElementCount === 0) axis.append(...[0, 0.5, 1].map(() => element("span")))
  ;[...axis.children].forEach((tick, i) => (tick.textContent = fill(state.meta.texts.percent, { number: String(Number((50 * i * scale).toPrecision(3))) })))
  const middle = /** @type {HTMLElement} */ (axis.children[1])
  middle.style.visibility = axis.clientWidth < MIDDLE_FITS ? "hidden" : "" // no room between the other two
  axis.dataset.name = bench.toUpperCase()
}

// Draw a line below the last kept token if the kept tokens are the first of the list.
/** @param {State} state */
function paintCut(state, bench) {
  const cut = state.cuts[bench]
  const result = state.results[bench]
  const keeps = result?.keeps
  const stay = keeps ? state.shown.filter((token) => keeps[token]).length : 0
  const inOrder = keeps && state.shown.slice(0, stay).every((token, i) => keeps[token] && state.rank[token] === i)
  const drawn = benches(state).includes(bench) && inOrder && result.kept === stay && stay < state.shown.length
  cut.hidden = !drawn
  if (!drawn) return
  cut.style.top = `calc(${stay} * var(--row))`
  cut.textContent = fill(state.meta.texts.stay, { count: wholeNumber(stay) })
}

const frequency = (state, bench, token) => (state.draws ? state.results[bench].counts[token] / state.draws : 0)

/** @param {State} state */
export function summaryOf(state) {
  const { texts, labels } = state.meta
  return benches(state)
    .map((bench) => {
      const { final, kept, stages } = state.results[bench]
      const likely = [...state.shown].sort((x, y) => final[y] - final[x]).slice(0, 3).filter((token) => final[token] > 0)
      const tokens = likely.map((token) => fill(texts.summary_token, { label: isolate(labels[token]), percent: chance(final[token], texts) })).join(", ")
      const words = fill(texts.summary, { count: wholeNumber(kept), all: wholeNumber(final.length), bits: bits(stages.at(-1).entropy), tokens })
      return state.compare ? `${bench.toUpperCase()}: ${words}` : words
    })
    .join(" ")
}
