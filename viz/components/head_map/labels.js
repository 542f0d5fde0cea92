// Paint the text along the two edges: the queries' labels on the left, the keys' labels on top, and the axis titles.

import { fitText } from "../shared/canvas.js"
import { clamp } from "../shared/numbers.js"
import { css } from "../shared/theme.js"
import { stepOf } from "../shared/ticks.js"
import { isolate } from "../shared/words.js"
import { stackOf } from "../shared/upright.js"
import { LABEL_FONT, LEAN, LETTER, SMALL_FONT, xOf, yOf } from "./layout.js"

export function paintLabels(context, state, axis) {
  const { meta, view, layout } = state
  const labels = axis === 0 ? meta.row_labels : meta.col_labels
  const [first, last] = axis === 0 ? [view.q0, view.q1] : [view.k0, view.k1]
  const pitch = axis === 0 ? layout.cellHeight : layout.cellWidth
  const pinned = state.selected?.[axis] ?? null
  const hovered = state.hovered?.[axis] ?? null
  const marked = [pinned, hovered].filter((unit) => unit !== null && unit >= first - 0.5 && unit < last)
  const every = labels.length ? stepOf(12, pitch) : stepOf(axis === 0 ? 34 : 44, pitch)
  const crowded = (unit) => marked.some((other) => other !== unit && Math.abs(other - unit) * pitch < 11.5)
  for (let unit = Math.ceil(first / every - 1e-6) * every; unit < last; unit += every) {
    if (!marked.includes(unit) && !crowded(unit)) paintLabel(context, state, axis, unit, "plain")
  }
  if (hovered !== null && hovered !== pinned && marked.includes(hovered)) paintLabel(context, state, axis, hovered, "hovered")
  if (marked.includes(pinned) && (hovered === null || hovered === pinned || !crowded(pinned))) {
    paintLabel(context, state, axis, pinned, "pinned")
  }
}

function paintLabel(context, state, axis, unit, kind) {
  const { meta, layout, theme } = state
  const labels = axis === 0 ? meta.row_labels : meta.col_labels
  const text = labels.length ? labels[unit - meta.window[axis * 2]] : String(unit)
  if (text === undefined) return // outside the tile, while the next one is loading
  const color = kind === "plain" ? (labels.length ? theme.text : theme.quiet) : axis === 0 ? theme.query : theme.key
  context.save()
  const pitch = axis === 0 ? layout.cellHeight : layout.cellWidth
  const size = labels.length ? (pitch > 11.5 ? clamp(pitch - 2.5, 10, LABEL_FONT) : 11) : SMALL_FONT
  context.font = `${size}px ${theme.font}`
  context.fillStyle = css(color)
  context.textBaseline = "middle"
  const shown = isolate(fitText(context, text, layout.most))
  if (axis === 0) {
    context.textAlign = "right"
    context.fillText(shown, layout.plot.x - 8, yOf(state, unit + 0.5) + 0.5)
  } else {
    context.translate(xOf(state, unit + 0.5), layout.plot.y - 7)
    paintOver(context, layout, text, shown, labels.length ? layout.stances[unit - meta.window[2]] : "turned")
  }
  context.restore()
}

// Paint a key's label over its column; the context's origin is at the column.
function paintOver(context, layout, text, shown, stands) {
  context.textAlign = "center"
  if (stands === "upright") context.fillText(shown, 0, -5)
  else if (stands === "stacked") {
    const letters = stackOf(text, Math.floor(layout.most / LETTER))
    letters.forEach((letter, i) => context.fillText(letter, 0, -5 - LETTER * (letters.length - 1 - i)))
  } else {
    context.textAlign = "left"
    context.rotate(-LEAN)
    context.fillText(shown, 0, 0)
  }
}

export function paintAxisWords(context, state) {
  const { layout, theme, meta } = state
  const { plot } = layout
  context.save()
  context.font = `${SMALL_FONT}px ${theme.font}`
  context.textBaseline = "alphabetic"
  context.textAlign = "center"
  context.fillStyle = css(theme.key)
  const key = meta.texts.axis_key ?? ""
  const half = context.measureText(key).width / 2
  context.fillText(key, clamp(plot.x + plot.width / 2, half, Math.max(half, layout.width - half)), 11)
  context.fillStyle = css(theme.query)
  const query = meta.texts.axis_query ?? ""
  const reach = context.measureText(query).width / 2
  context.translate(11, clamp(plot.y + plot.height / 2, reach, Math.max(reach, layout.height - reach)))
  context.rotate(-Math.PI / 2)
  context.fillText(query, 0, 0)
  context.restore()
}
