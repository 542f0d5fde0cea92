// Arcs over the text, from the newest token to the tokens it attends to in the open head: the wider, the larger the
// weight. Below them are the labels of the columns, where there is no room for the chips of the text over their
// columns.

import { fitText, measuring } from "../shared/canvas.js"
import { element, svg } from "../shared/dom.js"
import { css, mix, rampColor } from "../shared/theme.js"
import { stackOf, stance } from "../shared/upright.js"
import { fill, formatShort, isolate } from "../shared/words.js"
import { arcHeight, middleOf, namedColumns } from "./axis_layout.js"
import { labelAt } from "./frames.js"

const FAINTEST = 0.005 // a smaller weight has no arc
const SHARE = 0.045 // a smaller one is not written

export function createArcs() {
  const [lines, words] = [svg("g", { class: "lines" }), svg("g", { class: "words" })]
  const picture = svg("svg", { class: "arcs", "aria-hidden": "true" }, lines, words)
  return { picture, lines, words, shares: element("div", { className: "shares", "aria-hidden": "true" }) }
}

export function drawArcs(arcs, layout, shown, theme) {
  const { row } = shown.frame
  const { picture, lines } = arcs
  for (const [name, value] of [["width", layout.width], ["height", layout.above]]) picture.setAttribute(name, value)
  const looks = Array.from(row).flatMap((weight, column) => (weight >= FAINTEST ? [[column, weight]] : []))
  looks.sort((a, b) => a[1] - b[1]) // the strongest is drawn last, over the others
  while (lines.children.length > looks.length) lines.lastChild.remove()
  const names = layout.mode === "named" ? new Map(namedColumns(row, shown.now, layout)) : new Map()
  const x = (column) => names.get(column) ?? middleOf(layout, column)
  looks.forEach(([column, weight], i) => {
    const line = lines.children[i] ?? lines.appendChild(svg("path", { pathLength: 1 }))
    const look = {
      d: arcOf(x(shown.now), x(column), layout.base),
      "data-column": column,
      stroke: css(rampColor(theme.sequential, 0.4 + 0.5 * weight)),
      "stroke-width": (0.8 + 6 * weight).toFixed(2),
    }
    for (const [name, value] of Object.entries(look)) if (line.getAttribute(name) !== String(value)) line.setAttribute(name, value)
  })
  drawLabels(arcs.words, layout, shown, names, theme)
  drawShares(arcs.shares, layout, row, shown.meta.texts)
}

// From one place on the base line to another; a loop for a token that attends to itself.
function arcOf(from, to, base) {
  const [a, b, y] = [from, to, base].map((value) => Math.round(value * 10) / 10)
  if (a === b) return `M${a - 5},${y}C${a - 13},${y - 26} ${a + 13},${y - 26} ${a + 5},${y}`
  const top = y - arcHeight(a - b) * 1.3 // a curve reaches three quarters of the way to its handles
  return `M${a},${y}C${a},${top} ${b},${top} ${b},${y}`
}

function drawLabels(words, layout, { reel, meta, frame, now }, names, theme) {
  if (layout.mode === "chips") return words.replaceChildren()
  const pen = measuring(`12px ${theme.font}`)
  const { row, keys, position } = frame
  const places = layout.mode === "named" ? [...names] : row.length ? Array.from(row, (_, column) => [column, middleOf(layout, column)]) : []
  const nodes = places.flatMap(([column, x]) => {
    const at = keys ? keys[column] : column
    const label = layout.bin > 1 && column === now ? frame.label : labelAt(reel, at)
    const share = layout.mode === "named" && row[column] >= FAINTEST ? ` ${fill(meta.texts.percent, { number: formatShort(row[column], "percent") })}` : ""
    const color = css(column === now || at === position ? theme.query : theme.text)
    const written = labelNode(pen, label, share, x, layout, color)
    if (layout.mode !== "named") return [written]
    const line = svg("path", { d: `M${x},${layout.above - 9}L${middleOf(layout, column)},${layout.above}`, class: "to", stroke: css(mix(theme.background, theme.quiet, 0.6)) })
    return [line, written]
  })
  words.replaceChildren(...nodes)
}

// A label in its column: upright if it fits, otherwise on its side; scripts that are written downwards stay upright.
function labelNode(pen, label, share, x, layout, color) {
  const bottom = layout.above - (layout.mode === "named" ? 11 : 4)
  const room = bottom - layout.base - 3
  const stands = share ? "turned" : stance(label, pen.measureText(label).width, layout.cell - 5)
  if (stands === "upright") {
    return textNode(isolate(label), { x, y: bottom, "text-anchor": "middle", fill: color })
  }
  if (stands === "stacked") {
    const fits = stackOf(label, Math.floor(room / 13))
    const spans = fits.map((letter, i) => textNode(letter, { x, y: bottom - 13 * (fits.length - 1 - i), "text-anchor": "middle" }, "tspan"))
    return svg("text", { fill: color }, ...spans)
  }
  const words = fitText(pen, isolate(label), room - pen.measureText(share).width) + share
  return textNode(words, { transform: `translate(${x + 4} ${bottom}) rotate(-90)`, fill: color })
}

/** @type {(words: string, attributes: Record<string, any>, tag?: "text" | "tspan") => SVGElement} */
function textNode(words, attributes, tag = "text") {
  const node = svg(tag, attributes)
  node.textContent = words
  return node
}

// Below the chips, the values of the weights.
function drawShares(shares, layout, row, texts) {
  const nodes = layout.mode !== "chips" ? [] : Array.from(row).flatMap((weight, column) => {
    if (!(weight >= SHARE)) return []
    const node = element("span", { textContent: fill(texts.percent, { number: formatShort(weight, "percent") }) })
    node.style.left = `${middleOf(layout, column)}px`
    return [node]
  })
  shares.replaceChildren(...nodes)
}
