// Paints the map: the tiles that are here, the first token's column, labels, marks and the colour bar.

import { fitText, sizeCanvas } from "../shared/canvas.js"
import { hatch } from "../shared/hatch.js"
import { sharpness } from "../shared/room.js"
import { css } from "../shared/theme.js"
import { stepOf } from "../shared/ticks.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { cellOf, FONT, LEAN, levelFits, SMALL, xAt, yAt, zoomOf } from "./layout.js"
import { above, cellsAt, SIDE, tilesIn, tokensOf } from "./pyramid.js"
import { held, pictures } from "./tiles.js"

const BAND_MARGIN = 16 // CSS pixels at both ends of a band that its words leave free

export function paintMap(state) {
  const { canvas, layout, theme } = state
  const context = sizeCanvas(canvas, layout.width, layout.height)
  context.direction = "ltr" // rows and columns keep their places whatever the page's direction
  paintTiles(context, state)
  paintMarks(context, state)
  paintBands(context, state)
  paintBoxes(context, state)
  for (const axis of [0, 1]) paintAxis(context, state, axis)
  paintWords(context, state)
  paintBar(context, state)
  context.strokeStyle = css(theme.rule)
  for (const { x, y, width, height } of [layout.plot, layout.strip]) context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1)
}

function paintTiles(context, state) {
  const { layout, theme, meta, store } = state
  const zoom = zoomOf(state)
  context.imageSmoothingEnabled = false
  for (const [box, strip] of [[layout.plot, false], [layout.strip, true]]) {
    context.save()
    context.beginPath()
    context.rect(box.x, box.y, box.width, box.height)
    context.clip()
    context.fillStyle = hatch(context, theme)
    context.fillRect(box.x, box.y, box.width, box.height)
    for (const tile of tilesIn(state.view, meta.tokens, zoom, meta.causal)) paintTile(context, state, store, tile, strip)
    context.restore()
  }
}

// The tile itself or, while it is being loaded, the part of a coarser one that shows the same.
function paintTile(context, state, store, tile, strip) {
  const { q0, k0, span } = tokensOf(state.meta.tokens, tile)
  const size = span * cellOf(state)
  const [x, y] = strip ? [state.layout.strip.x, yAt(state, q0)] : [xAt(state, k0), yAt(state, q0)]
  for (let by = 0; by <= tile.zoom; by++) {
    const part = above(tile, by)
    const found = held(store, part.tile)
    if (!found) continue
    const { canvas, column } = pictures(found, state.meta.pooling, state.words)
    context.fillStyle = hatch(context, state.theme) // shows where the tile is clear
    context.fillRect(x, y, strip ? state.layout.strip.width : size, size)
    if (strip) context.drawImage(column, 0, part.top, 1, part.side, x, y, state.layout.strip.width, size)
    else context.drawImage(canvas, part.left, part.top, part.side, part.side, x, y, size, size)
    return
  }
  if (strip) return
  context.fillStyle = css(state.theme.secondary)
  context.fillRect(x, y, size, size)
}

// Name each band along it, above the diagonal or beyond another band. Skipped for a few tokens, which show none.
function paintBands(context, state) {
  const { layout: { plot }, theme, view, meta } = state
  const cell = cellOf(state)
  if (view.k1 - view.k0 < meta.far * 2) return
  for (const { distance, words, short } of meta.bands) {
    const from = Math.max(view.k0, view.q0 - distance)
    const to = Math.min(view.k1, view.q1 - distance)
    context.save()
    context.font = `${SMALL}px ${theme.font}`
    const room = (to - from) * cell * Math.SQRT2 - 2 * BAND_MARGIN
    const said = [words, short].find((one) => context.measureText(one).width <= room)
    if (said) {
      context.beginPath()
      context.rect(plot.x, plot.y, plot.width, plot.height)
      context.clip()
      context.translate(xAt(state, (from + to) / 2), yAt(state, (from + to) / 2 + distance))
      context.rotate(Math.PI / 4)
      context.textAlign = "center"
      Object.assign(context, { strokeStyle: css(theme.background), lineWidth: 5, lineJoin: "round", fillStyle: css(theme.text) })
      context.strokeText(said, 0, distance ? 14 : -8)
      context.fillText(said, 0, distance ? 14 : -8)
    }
    context.restore()
  }
}

// The matches of the search: thin lines at both edges.
function paintMarks(context, state) {
  const { layout, theme, view, found } = state
  context.fillStyle = css(theme.primary)
  const thick = Math.max(1.5, Math.min(cellOf(state), 6))
  for (const token of found) {
    if (token >= view.k0 && token < view.k1) context.fillRect(xAt(state, token + 0.5) - thick / 2, layout.plot.y - 6, thick, 5)
    if (token >= view.q0 && token < view.q1) context.fillRect(layout.strip.x - 6, yAt(state, token + 0.5) - thick / 2, 5, thick)
  }
}

// The pinned row in the queries' blue, the pinned column in the keys' red, and what the pointer is on.
function paintBoxes(context, state) {
  const { layout: { plot }, theme, selected, hovered } = state
  const cell = cellOf(state)
  context.save()
  context.beginPath()
  context.rect(plot.x - 2, plot.y - 2, plot.width + 4, plot.height + 4)
  context.clip()
  context.lineWidth = 1.5
  const thick = Math.max(3, cell)
  if (selected) {
    context.strokeStyle = css(theme.query)
    context.strokeRect(plot.x - 1, yAt(state, selected[0] + 0.5) - thick / 2, plot.width + 2, thick)
    context.strokeStyle = css(theme.key)
    if (selected[1] !== null) context.strokeRect(xAt(state, selected[1] + 0.5) - thick / 2, plot.y - 1, thick, plot.height + 2)
  }
  if (hovered) {
    context.strokeStyle = css(theme.text)
    context.strokeRect(xAt(state, hovered[1]) - 0.5, yAt(state, hovered[0]) - 0.5, Math.max(4, cell), Math.max(4, cell))
  }
  context.restore()
}

// Tokens where they fit, otherwise positions; a pinned token always.
function paintAxis(context, state, axis) {
  const { meta, view, layout, theme, selected } = state
  const [first, last] = axis === 0 ? [view.q0, view.q1] : [view.k0, view.k1]
  const [pitch, pinned] = [cellOf(state), selected?.[axis] ?? null]
  const words = pitch >= 11
  const every = words ? 1 : stepOf(axis === 0 ? 22 : 40, pitch)
  const level = (token) => axis === 1 && !words && token !== pinned // numbers have room to be upright
  const draw = (token, color) => {
    const text = words || token === pinned ? meta.labels[token] : wholeNumber(token)
    context.save()
    context.font = `${words ? Math.min(FONT, pitch - 1) : SMALL}px ${theme.font}`
    context.fillStyle = css(color)
    context.textBaseline = "middle"
    if (axis === 0) {
      context.textAlign = "right"
      context.translate(layout.strip.x - 8, yAt(state, token + 0.5) + 0.5)
    } else {
      context.translate(xAt(state, token + 0.5), layout.plot.y - 8)
      if (level(token)) [context.textAlign, context.textBaseline] = ["center", "alphabetic"]
      else context.rotate(-LEAN)
    }
    context.fillText(isolate(fitText(context, text, layout.most)), 0, 0)
    context.restore()
  }
  for (let token = Math.max(0, Math.ceil(first / every - 1e-6) * every); token < last - 0.5; token += every) {
    if (level(token) && !levelFits(layout, xAt(state, token + 0.5))) continue
    if (pinned === null || Math.abs(token - pinned) * pitch >= (level(token) ? 30 : 11)) draw(token, words ? theme.text : theme.quiet)
  }
  if (pinned !== null && pinned >= first - 0.5 && pinned < last) draw(pinned, axis === 0 ? theme.query : theme.key)
}

function paintWords(context, state) {
  const { layout: { plot, strip, most }, theme, meta } = state
  context.save()
  context.font = `${SMALL}px ${theme.font}`
  context.fillStyle = css(theme.key)
  context.textAlign = "center"
  context.fillText(meta.texts.axis_key, plot.x + plot.width / 2, 11)
  context.save()
  context.textAlign = "left"
  context.translate(strip.x + strip.width / 2, plot.y - 8)
  context.rotate(-LEAN)
  if (state.view.k0 > 0.5 || cellOf(state) < 11) context.fillText(fitText(context, meta.texts.first, most), 0, 3)
  context.restore()
  context.fillStyle = css(theme.query)
  context.translate(11, plot.y + plot.height / 2)
  context.rotate(-Math.PI / 2)
  context.fillText(meta.texts.axis_query, 0, 0)
  context.restore()
}

// The colour bar, the masked colour, and what a pixel stands for.
function paintBar(context, state) {
  const { layout, theme, meta } = state
  const { plot } = layout
  const [x, y, width] = [plot.x, plot.y + plot.height + 12, Math.max(92, Math.min(150, plot.width * 0.36))]
  const gradient = context.createLinearGradient(x, 0, x + width, 0)
  for (const [t, ...color] of theme.sequential) gradient.addColorStop(t, css(color))
  context.fillStyle = gradient
  context.fillRect(x, y, width, 9)
  context.strokeStyle = css(theme.rule)
  context.strokeRect(x + 0.5, y + 0.5, width - 1, 8)
  context.font = `${SMALL}px ${theme.font}`
  context.fillStyle = css(theme.quiet)
  context.textBaseline = "alphabetic"
  context.textAlign = "left"
  const ends = meta.log ? ["≤ ", meta.low] : ["", 0]
  context.fillText(ends[0] + formatNumber(Number(ends[1]), "percent", meta.texts), x, y + 22)
  context.textAlign = "right"
  context.fillText(formatNumber(1, "percent", meta.texts), x + width, y + 22)
  context.textAlign = "left"
  const room = layout.width - x - width - 14
  context.fillText(fitText(context, pixelWords(state), room), x + width + 14, y + 8)
  const pooled = cellsAt(meta.tokens, zoomOf(state)) > 1
  if (pooled) context.fillText(fitText(context, meta.texts.apart, room), x + width + 14, y + 37)
  if (!meta.causal) return
  context.fillStyle = hatch(context, theme)
  context.fillRect(x + width + 14, y + 14, 11, 9)
  context.strokeRect(x + width + 14.5, y + 14.5, 10, 8)
  context.fillStyle = css(theme.quiet)
  context.fillText(meta.texts.masked, x + width + 31, y + 22)
}

// "1 cell a pixel", or how many cells are pooled and how.
export function pixelWords(state) {
  const { meta } = state
  const cells = cellsAt(meta.tokens, zoomOf(state))
  return cells === 1 ? meta.texts.exact : fill(meta.texts[`of_${meta.pooling}`], { n: `${cells} × ${cells}` })
}

// The whole map as a thumbnail, with a frame around the current view.
export function paintMini(state) {
  const { mini, meta, theme, view, store } = state
  const side = mini.parentElement.clientWidth > 560 || mini.parentElement.clientWidth < 300 ? 132 : 104
  const context = sizeCanvas(mini, side, side)
  context.fillStyle = hatch(context, theme)
  context.fillRect(0, 0, side, side)
  const whole = held(store, { zoom: 0, x: 0, y: 0 })
  const scale = side / meta.tokens
  context.imageSmoothingEnabled = side * sharpness() < SIDE
  const size = SIDE * cellsAt(meta.tokens, 0) * scale
  if (whole) context.drawImage(pictures(whole, meta.pooling, state.words).canvas, 0, 0, size, size)
  context.strokeStyle = css(theme.rule)
  context.strokeRect(0.5, 0.5, side - 1, side - 1)
  context.lineWidth = 2
  context.strokeStyle = css(theme.primary)
  const length = Math.max(6, (view.k1 - view.k0) * scale)
  const at = (start, end) => Math.min(side - length, Math.max(0, ((start + end) / 2) * scale - length / 2))
  context.strokeRect(at(view.k0, view.k1), at(view.q0, view.q1), length, length)
}
