// The map, tile by tile: the weights computed so far, the blocks in SRAM along its sides, and the chosen row.

import { sizeCanvas } from "../shared/canvas.js"
import { CLEAR, hatch } from "../shared/hatch.js"
import { clamp } from "../shared/numbers.js"
import { paintPixels, wordOf } from "../shared/pixels.js"
import { inRoom } from "../shared/room.js"
import { css, mix, ramp } from "../shared/theme.js"
import { COMPUTE, START, spanOf } from "./tiles.js"
/** @import { Theme } from "../shared/types" */
/** @import { Reel } from "./types" */

const SIDE = 13 // pixels of the strips of Q, O, K and V beside the map
const GAP = 4
const LARGEST = 400

// Where the map stands in a canvas of this width: cells of equal size, at least one pixel each.
export function placeOf(n, width) {
  const edge = 2 * (SIDE + GAP)
  const cell = Math.max(1, Math.min(inRoom(LARGEST), width - edge) / n)
  return { left: SIDE + GAP, top: SIDE + GAP, cell, side: cell * n, width: cell * n + edge, height: cell * n + edge }
}

export function rowUnder({ top, cell, side }, y, n) {
  return y < top || y >= top + side ? null : clamp(Math.floor((y - top) / cell), 0, n - 1)
}

/** @param {{ canvas: HTMLCanvasElement, pixels: HTMLCanvasElement, reel: Reel, sums: any, done: number[], at: number, row: number, theme: Theme }} what */
export function paintTiles({ canvas, pixels, reel, sums, done, at, row, theme }) {
  const { work, plan } = reel
  const { n } = work
  const place = placeOf(n, canvas.parentElement?.clientWidth ?? LARGEST)
  const { left, top, cell, side } = place
  const context = sizeCanvas(canvas, place.width, place.height)
  paintShares(pixels, reel, sums, done, theme)
  context.fillStyle = hatch(context, theme) // shows where the picture is clear
  context.fillRect(left, top, side, side)
  context.imageSmoothingEnabled = false
  context.drawImage(pixels, left, top, side, side)
  drawLines(context, reel, place, theme)
  drawStrips(context, reel, place, at, done, theme)
  if (reel.kind[at] !== START) {
    const [q0, q1] = spanOf(n, plan.rows, reel.i[at])
    const [k0, k1] = spanOf(n, plan.columns, reel.j[at])
    context.lineWidth = reel.kind[at] === COMPUTE ? 3 : 1.5
    context.strokeStyle = css(theme.compare)
    context.strokeRect(left + k0 * cell, top + q0 * cell, (k1 - k0) * cell, (q1 - q0) * cell)
  }
  context.lineWidth = 1.5
  context.strokeStyle = css(theme.query)
  context.strokeRect(left, top + row * cell, side, Math.max(cell, 2))
  return place
}

// A pixel a cell: its share as the row has it now, clear where masked, the page's second tone where nothing is computed.
function paintShares(pixels, { work, plan, seen }, sums, done, theme) {
  const { n, scores } = work
  const colors = ramp(theme.sequential)
  const ahead = wordOf(mix(theme.background, theme.secondary, 0.9))
  const known = seen.map((row, i) => {
    const met = new Uint8Array(sums.across)
    for (let t = 0; t < done[i]; t++) met[row[t]] = 1
    return met
  })
  paintPixels(pixels, n, n, (index) => {
    const [r, c] = [Math.floor(index / n), index % n]
    if (scores[index] === -Infinity) return CLEAR
    const i = Math.floor(r / plan.rows)
    if (!known[i][Math.floor(c / plan.columns)]) return ahead
    const at = r * sums.across + done[i] - 1
    return colors[Math.round(255 * clamp(Math.exp(scores[index] - sums.max[at]) / sums.sum[at], 0, 1))]
  })
}

function drawLines(context, { work, plan }, { left, top, cell, side }, theme) {
  context.strokeStyle = css(theme.rule)
  context.lineWidth = 1
  context.beginPath()
  const every = (size, line) => {
    if (size * cell < 4) return // lines alone would be visible
    for (let at = 0; at <= work.n; at += size) line(at * cell)
  }
  every(plan.columns, (x) => {
    context.moveTo(left + x, top)
    context.lineTo(left + x, top + side)
  })
  every(plan.rows, (y) => {
    context.moveTo(left, top + y)
    context.lineTo(left + side, top + y)
  })
  context.stroke()
}

// Q at the left and O at the right, K above and V below: pale in HBM, full in SRAM; O as far as its rows are computed.
function drawStrips(context, reel, { left, top, cell, side }, at, done, theme) {
  const { work, plan, kind, i, j, seen } = reel
  const strip = (color, x, y, width, height, strength) => {
    context.fillStyle = css(mix(theme.background, color, strength))
    context.fillRect(x, y, width, height)
  }
  const blocks = Math.ceil(work.n / plan.rows)
  for (let block = 0; block < blocks; block++) {
    const [first, stop] = spanOf(work.n, plan.rows, block)
    const [y, height] = [top + first * cell, Math.max(1, (stop - first) * cell - 1)]
    const here = kind[at] !== START && i[at] === block
    strip(theme.query, 0, y, SIDE, height, here ? 1 : 0.28)
    const far = seen[block].length ? done[block] / seen[block].length : 1
    strip(theme.value, left + side + GAP, y, SIDE, height, 0.14 + 0.86 * far)
  }
  for (let block = 0; block * plan.columns < work.n; block++) {
    const [first, stop] = spanOf(work.n, plan.columns, block)
    const [x, width] = [left + first * cell, Math.max(1, (stop - first) * cell - 1)]
    const here = kind[at] !== START && j[at] === block
    strip(theme.key, x, 0, width, SIDE, here ? 1 : 0.28)
    strip(theme.value, x, top + side + GAP, width, SIDE, here ? 1 : 0.28)
  }
  context.font = `600 10px ${theme.font}`
  context.textAlign = "center"
  context.textBaseline = "middle"
  context.fillStyle = css(theme.text)
  const name = (letter, x, y) => context.fillText(letter, x, y)
  name("Q", SIDE / 2, SIDE / 2)
  name("K", left + side + GAP + SIDE / 2, SIDE / 2)
  name("V", SIDE / 2, top + side + GAP + SIDE / 2)
  name("O", left + side + GAP + SIDE / 2, top + side + GAP + SIDE / 2)
}
