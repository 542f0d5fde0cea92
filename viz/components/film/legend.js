// What the rows, the columns and the colours of the weights and of the cache mean.

import { element } from "../shared/dom.js"
import { css } from "../shared/theme.js"
import { mayChoose } from "../shared/follow.js"
import { fill, formatNumber, isolate } from "../shared/words.js"

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
  const rows = fill(view.heads.length ? texts.legend_heads : texts.legend_head, { head, layer: view.head[0] })
  lines.push(line("of-heads", theme.sequential, [rows, ...(opens && view.heads.length ? [texts.legend_open] : [])]))
  const [k, v] = ["k", "v"].map((name) => formatNumber(axis.most[name] ?? 0, "plain", texts))
  lines.push(line("of-cache", theme.diverging, [fill(texts.legend_cache, { head, k, v, label: isolate(reel.frames[at].label) })]))
  axis.legend.replaceChildren(...lines)
}
