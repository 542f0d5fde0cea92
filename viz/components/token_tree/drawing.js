// Draw the figure: lines, chips, names, legend; and describe a node.

import { element, svg } from "../shared/dom.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
import { CHIP } from "./layout.js"
/** @import { State } from "./types" */

const thickness = (node) => 1 + 6 * Math.exp(node.logProb)

/** @param {State} state */
export const counted = ({ meta }, template) => fill(template, { branches: meta.n_branches, tokens: meta.ids.length - 1, token: isolate(meta.labels[0]) })

export function edgeNode({ from, to, straight }, state) {
  const child = to.node ?? to.hidden[0]
  const [x1, x2] = [from.x + from.width, to.x]
  const bend = (x2 - x1) * 0.55
  const d = straight ? `M${x1},${from.y}H${x2}` : `M${x1},${from.y}C${x1 + bend},${from.y} ${x2 - bend},${to.y} ${x2},${to.y}`
  const edge = svg("path", { d, class: "edge", "stroke-width": thickness(child).toFixed(2), "data-to": child.id })
  edge.classList.toggle("path", state.path.has(to.node ?? to.hidden.at(-1)))
  edge.classList.toggle("dropped", child.dropped)
  return edge
}

export function chipNode({ node, x, y, width, text }, state) {
  const top = y - CHIP / 2
  const group = svg("g", { class: "chip", role: "treeitem", id: `node-${node.i}`, "data-id": node.id, "aria-level": node.depth + 1 })
  const title = svg("title", {})
  title.textContent = describe(state, node)
  group.append(title, svg("rect", { class: "box", x, y: top, width, height: CHIP, rx: 5 }))
  if (node.chosen === "forced") group.append(svg("rect", { class: "forced-mark", x: x + 2.5, y: top + 4, width: 3, height: CHIP - 8, rx: 1.5 }))
  if (node.ended) group.append(svg("rect", { class: "end-mark", x: x + width + 2.5, y: top, width: 3, height: CHIP }))
  const label = svg("text", { x: x + width / 2, y: y + 4.5, "text-anchor": "middle" })
  label.textContent = isolate(text)
  group.append(label)
  if (node.id === state.meta.frame) group.append(frameMark(x, y, width))
  group.classList.toggle("prompt", node.parent === null)
  group.classList.toggle("path", state.path.has(node))
  group.classList.toggle("opened", node === state.openNode)
  group.classList.toggle("dropped", node.dropped)
  group.setAttribute("aria-label", labelOf(state, node))
  group.setAttribute("aria-selected", String(node === state.openNode))
  return group
}

export function moreNode({ hidden, x, y, width, text }, state) {
  const words = fill(state.meta.texts.more, { count: hidden.length, text: isolate(hidden.map((node) => node.label).join("")) })
  const title = svg("title", {})
  title.textContent = words
  const label = svg("text", { x: x + width / 2, y: y + 4.5, "text-anchor": "middle" })
  label.textContent = text
  const box = svg("rect", { x, y: y - CHIP / 2, width, height: CHIP, rx: 5, fill: "transparent" })
  const group = svg("g", {
    class: "more", role: "treeitem", "aria-level": hidden[0].depth + 1, "aria-expanded": "false", "data-hides": hidden[0].id, "aria-label": words,
  }, title, box, label)
  group.classList.toggle("path", state.path.has(hidden.at(-1)))
  if (hidden.some((node) => node.id === state.meta.frame)) group.append(frameMark(x, y, width))
  return group
}

// A triangle that points at the node from below.
function frameMark(x, y, width) {
  const [middle, top] = [x + width / 2, y + CHIP / 2 + 1]
  return svg("path", { class: "frame-mark", d: `M${middle},${top}l5,6h-10z` })
}

const labelOf = (state, node) =>
  node.id === state.meta.frame ? `${describe(state, node)} · ${state.meta.texts.frame}` : describe(state, node)

export function nameNode({ x, y, text, node }) {
  const name = svg("text", { class: "name", x: x + (node.ended ? 5 : 0), y: y + 4 })
  name.textContent = isolate(text)
  return name
}

// Describe a node: how it was chosen, its probability given the tokens before it, and their joint probability.
/** @param {State} state */
export function describe(state, node) {
  const { texts } = state.meta
  if (node.parent === null) return counted(state, state.nodes.length > 1 ? texts.prompt : texts.alone)
  const how = node.dropped ? texts.dropped : texts[node.chosen]
  const words = fill(texts.node, {
    token: isolate(node.label),
    how: node.ended ? `${how}, ${texts.ended}` : how,
    value: formatNumber(Math.exp(node.logProb), "percent", texts),
    log: formatNumber(node.logProb, "plain", texts),
    total: formatNumber(node.total, "plain", texts),
  })
  return node.names.length ? `${words} · ${node.names.join(", ")}` : words
}

/** @param {State} state */
export function drawLegend({ legend, nodes, meta }) {
  const { texts } = meta
  const has = (test) => nodes.slice(1).some(test)
  const items = []
  if (nodes.length > 1) items.push(["thickness", texts.thickness], ["open", texts.open], ["frame", texts.frame])
  if (has((node) => node.chosen === "forced")) items.push(["forced", texts.forced])
  if (has((node) => node.dropped)) items.push(["dropped", texts.dropped])
  if (has((node) => node.ended)) items.push(["ended", texts.ended])
  legend.replaceChildren(...items.map(([kind, words]) => element("span", { className: kind }, element("i"), words ?? "")))
}
