// Draw the strip as SVG: the residual stream, the parts before and after the layers, and the layers with their heads.

import { svg } from "../shared/dom.js"
import { bands, kindOf, ticks } from "./layout.js"
/** @import { LayerKind, LayerRow, RowLayout, State } from "./types" */

const ROUND = 6 // corner radius of a box
const SEGMENTS = 6 // maximum number of segments that represent experts

/** @type {(state: State) => SVGElement[]} */
export function drawStrip(state) {
  const { meta, layout } = state
  const joined = meta.rows.length > 1 ? [crossLine(state)] : []
  return [
    ...joined,
    ...meta.rows.flatMap((row, i) => drawRow(state, row, layout.rows[i])),
    ...(meta.lit.includes("loop") ? [loopLine(state)] : []),
  ]
}

/** @type {(state: State, row: LayerRow, at: RowLayout) => SVGElement[]} */
function drawRow(state, row, at) {
  const { meta } = state
  const middle = at.top + 1 + at.height / 2
  const first = at.parts[0] ?? at.boxes[0]
  const className = meta.lit.includes("stream") ? "stream lit" : "stream"
  const line = svg("line", { x1: first?.left ?? 0, x2: at.right, y1: middle, y2: middle, class: className })
  const layers = at.boxes.map((_, layer) => drawLayer(state, row, at, layer))
  return [line, ...layers, ...at.parts.map((part) => drawPart(state, part, middle))]
}

/** @type {(meta: State["meta"]) => number} */
export const partHeight = (meta) => (meta.rows.length > 1 ? 18 : 28)

/** @type {(state: State, part: RowLayout["parts"][0], middle: number) => SVGElement} */
function drawPart({ meta, narrow }, { name, left, width }, middle) {
  const words = meta.texts[name] ?? name
  const height = narrow ? 10 : partHeight(meta)
  const lit = meta.lit.includes(name) || (name === "written" && meta.lit.includes("text"))
  const group = svg("g", { class: `part${lit ? " lit" : ""}`, "data-part": name },
    svg("rect", { x: left + 0.5, y: middle - height / 2, width: width - 1, height, rx: narrow ? 4 : ROUND }))
  if (!narrow) {
    const text = svg("text", { x: left + width / 2, y: middle + 4, "text-anchor": "middle" })
    text.textContent = words
    group.append(text)
  }
  return group
}

/** @type {(state: State, row: LayerRow, at: RowLayout, layer: number) => SVGElement} */
function drawLayer(state, row, at, layer) {
  const { meta, place } = state
  const box = at.boxes[layer]
  const kind = kindOf(row, layer)
  const open = layer === place[0] && row.attentions.includes(place[2])
  const whole = row.attentions.some((attention) => isChanged(state, attention, layer, -1))
  const some = whole || meta.changed.some(([attention, one]) => one === layer && row.attentions.includes(attention))
  const mixes = kind.attentions.some(Boolean)
  const classes = ["layer", open && "open", (box.wide ? whole : some) && "changed", !mixes && "no-heads", !box.wide && "hair"]
  const group = svg("g", { class: classes.filter(Boolean).join(" "), "data-layer": layer })
  if (box.wide) drawWide(state, group, row, at, layer, kind)
  else drawHair(group, at, box, kind, mixes)
  return group
}

/** @type {(state: State, group: SVGElement, row: LayerRow, at: RowLayout, layer: number, kind: LayerKind) => void} */
function drawWide(state, group, row, at, layer, kind) {
  const { meta, place, narrow } = state
  const { lit } = meta
  const box = at.boxes[layer]
  const low = meta.rows.length > 1
  const frame = { x: box.left + 0.5, y: at.top + 1, width: Math.max(1, box.width - 1), height: at.height, rx: ROUND }
  group.append(svg("rect", { ...frame, class: "box" }))
  if (!narrow) {
    const label = svg("text", { x: box.left + 6, y: at.top + (low ? 15 : 12) })
    label.textContent = `L${layer}`
    group.append(label)
  }
  const { heads, ffn } = bands(at, row.attentions.length)
  row.attentions.forEach((attention, i) => {
    const given = kind.attentions[i]
    const all = lit.includes("attention") && (meta.rows.length < 2 || attention === place[2])
    const line = { y: heads[i].top, height: heads[i].height }
    if (!given) {
      group.append(svg("rect", { ...line, x: box.left + at.inset, width: Math.max(1, box.width - at.inset - 6), rx: 3, class: "mixer" }))
      return
    }
    const marks = ticks(box, at.inset, given)
    const d = marks.map(({ left, width }) => `M${round(left)} ${line.y}h${round(width)}v${line.height}h${round(-width)}z`).join("")
    group.append(svg("path", { d, class: `heads${all ? " lit" : ""}` }))
    marks.forEach((mark, head) => {
      const own = layer === place[0] && head === place[1] && attention === place[2]
      const changed = meta.changed.some(([of, on, one]) => of === attention && on === layer && one === head)
      if (!own && !changed) return
      const classes = ["tick", own && "own", changed && "changed"].filter(Boolean).join(" ")
      group.append(svg("rect", { ...line, x: mark.left, width: Math.max(own ? 2 : 1, mark.width), class: classes }))
    })
  })
  if (kind.experts >= 0) {
    const own = layer === place[0] && row.attentions.includes(place[2])
    const className = `ffn${lit.includes("ffns") || (lit.includes("ffn") && own) ? " lit" : ""}`
    const room = { left: box.left + at.inset, width: Math.max(1, box.width - at.inset - 6) }
    const count = Math.max(1, Math.min(kind.experts, SEGMENTS))
    for (let i = 0; i < count; i++) {
      const width = room.width / count - (count > 1 ? 1 : 0)
      group.append(svg("rect", { x: room.left + i * (room.width / count), y: ffn.top, width: Math.max(1, width), height: ffn.height, class: className }))
    }
  }
}

/** @type {(group: SVGElement, at: RowLayout, box: { left: number, width: number }, kind: LayerKind, mixes: boolean) => void} */
function drawHair(group, at, box, kind, mixes) {
  const span = { x: box.left, width: box.width }
  const top = at.top + 1 + at.height * 0.2
  const height = at.height * 0.6
  group.append(svg("rect", { ...span, y: top, height: height * 0.6, class: mixes ? "heads" : "mixer" }))
  if (kind.experts >= 0) group.append(svg("rect", { ...span, y: top + height * 0.68, height: height * 0.32, class: "ffn" }))
}

/** @type {(state: State, attention: string, layer: number, head: number) => boolean} */
export const isChanged = ({ meta }, attention, layer, head) => meta.changed.some(([of, on, one]) =>
  of === attention && (on === layer || on < 0) && (one === head || one < 0))

// Draw the line from the end of the encoder, between the two rows, to every layer of the decoder.
/** @type {(state: State) => SVGElement} */
function crossLine({ layout }) {
  const [from, to] = layout.rows
  const [first, last] = [to.boxes[0], to.boxes[to.boxes.length - 1]]
  const start = from.right
  const between = to.top - 1.5
  const end = Math.max(start + 6, last.left + last.width / 2)
  const stubs = to.boxes.map((box) => `M${round(box.left + box.width / 2)} ${between}v3`).join("")
  const d = `M${round(start)} ${from.top + 1 + from.height / 2}H${round(start + 6)}V${between}`
  return svg("path", { d: `${d}M${round(first.left + first.width / 2)} ${between}H${round(end)}${stubs}`, class: "cross" })
}

// Draw the line from the last part back to the first: the chosen token becomes part of the text.
/** @type {(state: State) => SVGElement} */
function loopLine({ meta, layout }) {
  const row = layout.rows[layout.rows.length - 1]
  const [first, last] = [row.parts[0], row.parts[row.parts.length - 1]]
  const end = row.top + 1 + (row.height + partHeight(meta)) / 2
  const bottom = layout.height - 1
  const rise = Math.min(4, bottom - end)
  const [to, from] = [first.left + first.width / 2, last.left + last.width / 2]
  const arrow = `M${round(to - 3)} ${round(end + rise)}L${round(to)} ${round(end)}L${round(to + 3)} ${round(end + rise)}`
  return svg("path", { d: `M${round(from)} ${round(end)}V${bottom}H${round(to)}V${round(end)}${arrow}`, class: "loop" })
}

/** @type {(value: number) => number} */
const round = (value) => Math.round(value * 100) / 100
