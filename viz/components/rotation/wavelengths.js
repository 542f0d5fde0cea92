// Every pair at its wavelength, the number of tokens for one full turn, with lines as long as its q and k.

import { sizeCanvas } from "../shared/canvas.js"
import { clamp } from "../shared/numbers.js"
import { inRoom } from "../shared/room.js"
import { css } from "../shared/theme.js"
import { fill, formatPlain, wholeNumber } from "../shared/words.js"
import { disc, rule, SMALL, write } from "./axis.js"

const WAVES_HEIGHT = 168
const WAVES = { left: 44, right: 14, top: 34, bottom: 40 }

function waveScale(state, width) {
  const { pairs, context: limit } = state
  const finite = pairs.map((pair) => pair.wavelength).filter(Number.isFinite)
  const low = Math.log10(Math.min(2 * Math.PI, ...finite)) - 0.06
  const high = Math.log10(Math.max(limit, ...finite)) + 0.08
  const [from, to] = [WAVES.left, width - WAVES.right]
  return { low, high, x: (tokens) => from + ((clamp(Math.log10(tokens), low, high) - low) / (high - low)) * (to - from) }
}

export function paintWaves(state, width) {
  const { waves, theme, pairs, longest } = state
  const height = inRoom(WAVES_HEIGHT)
  const context = sizeCanvas(waves, width, height)
  context.direction = "ltr"
  const scale = waveScale(state, width)
  const bottom = height - WAVES.bottom
  state.waveX = pairs.map((pair) => scale.x(pair.wavelength))
  paintBeyond(context, state, scale, width, bottom)
  paintWaveAxes(context, state, scale, width, bottom)
  const most = Math.max(longest.query, longest.key)
  const y = (length) => bottom - (length / most) * (bottom - WAVES.top)
  pairs.forEach((pair, i) => {
    for (const [name, shift] of [["key", 2.5], ["query", -2.5]]) {
      const [x, top] = [state.waveX[i] + shift, y(Math.hypot(...pair[name[0]]))]
      rule(context, css(theme[name], i === state.pair ? 1 : 0.45), x, bottom, x, top, { width: i === state.pair ? 2 : 1.25 })
      disc(context, css(theme[name]), x, top, i === state.pair ? 4 : 2.75)
    }
  })
  paintHere(context, state, scale, bottom)
}

// Pairs beyond the context do not complete a turn in any text that this model was built for.
function paintBeyond(context, { context: limit, theme, meta }, scale, width, bottom) {
  const x = scale.x(limit)
  context.fillStyle = css(theme.secondary)
  context.fillRect(x, WAVES.top - 6, width - WAVES.right - x + 6, bottom - WAVES.top + 6)
  rule(context, css(theme.quiet), x, WAVES.top - 6, x, bottom, { dash: [4, 3] })
  const right = x < width * 0.6
  write(context, theme, fill(meta.texts.context, { count: wholeNumber(limit) }), right ? x + 4 : x - 4, 12, { align: right ? "left" : "right" })
}

function paintWaveAxes(context, { theme, meta, longest }, scale, width, bottom) {
  rule(context, css(theme.rule), WAVES.left, bottom + 0.5, width - WAVES.right + 6, bottom + 0.5)
  for (let power = 0; power <= scale.high; power++) {
    for (const part of [1, 2, 5]) {
      const tokens = part * 10 ** power
      const place = Math.log10(tokens)
      if (place < scale.low || place > scale.high) continue
      const x = scale.x(tokens)
      rule(context, css(theme.rule), x, bottom, x, bottom + (part === 1 ? 5 : 3))
      const roomy = (width - WAVES.left) / (scale.high - scale.low) > 130
      if (part === 1 || roomy) write(context, theme, wholeNumber(tokens), x, bottom + 17, { align: "center" })
    }
  }
  const turn = scale.x(2 * Math.PI)
  rule(context, css(theme.rule), turn, WAVES.top, turn, bottom + 5, { dash: [2, 3] })
  write(context, theme, "2π", turn, bottom + 17, { align: "center" })
  write(context, theme, meta.texts.wavelength_axis, (WAVES.left + width - WAVES.right) / 2, bottom + WAVES.bottom - 6, { align: "center" })
  const most = Math.max(longest.query, longest.key)
  write(context, theme, formatPlain(most), WAVES.left - 6, WAVES.top + 4, { align: "right" })
  write(context, theme, "0", WAVES.left - 6, bottom + 2, { align: "right" })
  write(context, theme, meta.texts.length_axis, 2, 12)
}

function paintHere(context, { position, theme, meta }, scale, bottom) {
  if (position < 1 || Math.log10(position) < scale.low) return
  const x = scale.x(position)
  rule(context, css(theme.text), x, WAVES.top - 6, x, bottom, { width: 1.25 })
  const text = fill(meta.texts.here, { position: wholeNumber(position) })
  context.font = `${SMALL}px ${theme.font}`
  const half = context.measureText(text).width / 2
  write(context, theme, text, Math.max(x, WAVES.left + half), WAVES.top - 10, { align: "center", color: theme.text })
}

// The pair nearest to this position on the axis.
export const waveAt = ({ waveX }, x) => waveX.reduce((best, place, i) => (Math.abs(place - x) < Math.abs(waveX[best] - x) ? i : best), 0)
