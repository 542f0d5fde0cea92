// What the rows, the columns and the colours of the strip and of the cache are; and which of the picture's two halves is
// of before the token, and which of after it.

import { element } from "../shared/dom.js"
import { css } from "../shared/theme.js"
import { mayChoose } from "../shared/follow.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
import { labelAt } from "./frames.js"

/** @type {(points: import("../shared/types").Ramp) => HTMLElement} */
function swatch(points) {
  const bar = element("i")
  const stops = points.map(([t, ...color]) => `${css(color)} ${100 * t}%`)
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`
  return bar
}

const line = (className, points, words) => element("p", { className: `note ${className}` }, swatch(points), ...words.map((word) => element("span", { textContent: word })))

export function drawLegend(axis, state, theme) {
  const { reel, meta, at } = state
  const { texts, view } = meta
  const opens = meta.alive && mayChoose(state)
  const head = `L${view.head[0]}H${view.head[1]}`
  const lines = []
  if (view.heads.length) lines.push(line("of-heads", theme.sequential, [fill(texts.legend_heads, { head }), ...(opens ? [texts.legend_open] : [])]))
  const [k, v] = ["k", "v"].map((name) => formatNumber(axis.most[name] ?? 0, "plain", texts))
  lines.push(line("of-cache", theme.diverging, [fill(texts.legend_cache, { head, k, v, label: isolate(reel.frames[at].label) })]))
  axis.legend.replaceChildren(...lines)
}

// The chosen token stands in the text before it looks: its row of attention had no part in choosing it.
export function drawWhen(state) {
  const { choice, axis, reel, at } = state
  const { texts } = state.meta
  const frame = reel.frames[at]
  const label = isolate(frame.label)
  const before = at ? isolate(labelAt(reel, frame.position - 1)) : ""
  choice.when.textContent = fill(at ? texts.when_chosen : texts.when_open, { label, before })
  axis.when.textContent = fill(at ? texts.when_looks : texts.when_looks_first, { label })
}
