// Lay out the tree: nodes from the payload, runs of nodes without a branch, chips with x and y in pixels.

import { fitText, measuring } from "../shared/canvas.js"
/** @import { Node, State } from "./types" */

export const ROW = 32 // distance between rows of the tree
export const CHIP = 22 // height of a chip
const STEP = 12 // distance between the chips of a run
const FORK = 44 // distance between a node and its children if there are several
const MARGIN = 6
const WIDEST_CHIP = 150
const LONGEST_RUN = 9 // chips; a longer run shows only its ends and the surroundings of the open node
const ENDS = 2 // chips at either end of a shortened run

// Convert the payload to nodes with references to their children.
/** @param {State} state */
export function nodesOf({ meta, arrays }) {
  /** @type {Node[]} */
  const nodes = meta.ids.map((id, i) => ({
    i,
    id,
    label: meta.labels[i],
    chosen: meta.chosen[i],
    names: meta.names[i] ?? [],
    parent: null,
    children: [],
    depth: 0,
    row: arrays.rows[i],
    logProb: arrays.log_probs[i],
    total: arrays.totals[i],
    dropped: Boolean(arrays.dropped[i]),
    ended: Boolean(arrays.ended[i]),
  }))
  for (const node of nodes.slice(1)) {
    const parent = nodes[arrays.parents[node.i]]
    parent.children.push(node)
    Object.assign(node, { parent, depth: parent.depth + 1 })
  }
  return nodes
}

// The run of only children that starts with a node, including the node.
export function runFrom(node) {
  const run = [node]
  while (run.at(-1).children.length === 1) run.push(run.at(-1).children[0])
  return run
}

// The drawn nodes of a run, with {hidden: [nodes]} in place of the others.
function shortened(run, { expanded, openNode }) {
  if (run.length <= LONGEST_RUN || expanded.has(run[0].id)) return run
  const open = run.indexOf(openNode)
  const wanted = (at) => at < ENDS || at >= run.length - ENDS || (open >= 0 && Math.abs(at - open) <= 1)
  const items = []
  for (const [at, node] of run.entries()) {
    const alone = !wanted(at) && (at === 0 || wanted(at - 1)) && (at === run.length - 1 || wanted(at + 1))
    if (wanted(at) || alone) items.push(node) // "…" in place of a single chip would save nothing
    else if (items.at(-1).hidden) items.at(-1).hidden.push(node)
    else items.push({ hidden: [node] })
  }
  return items
}

// {chips, edges, names, width, height}. A chip is {node or hidden, x, y, width, text}; an edge leads from the chip
// `from` to the chip `to`, `straight` inside a run.
export function layout(state, font) {
  const chips = []
  const edges = []
  const names = []
  const rows = Math.max(...state.nodes.map((node) => node.row)) + 1
  let widest = 0
  const pending = /** @type {any[]} */ ([{ run: runFrom(state.nodes[0]), x: MARGIN, from: null }])
  while (pending.length) {
    const { run, x: start, from: fork } = pending.pop()
    let [x, from] = [start, fork]
    for (const item of shortened(run, state)) {
      const chip = chipOf(item, x, MARGIN + (run[0].row + 0.5) * ROW, font)
      chips.push(chip)
      if (from) edges.push({ from, to: chip, straight: from !== fork })
      ;[x, from] = [chip.x + chip.width + STEP, chip]
    }
    const last = run.at(-1)
    let end = from.x + from.width
    if (!last.children.length && last.names.length) {
      const text = last.names.join(", ")
      names.push({ x: end + 9, y: from.y, text, node: last })
      end += 9 + measuring(`12px ${font}`).measureText(text).width
    }
    widest = Math.max(widest, end)
    for (const child of last.children.toReversed()) pending.push({ run: runFrom(child), x: from.x + from.width + FORK, from })
  }
  return { chips, edges, names, width: Math.ceil(widest + MARGIN), height: Math.ceil(rows * ROW + 2 * MARGIN) }
}

function chipOf(item, x, y, font) {
  const pen = measuring(`600 13px ${font}`) // the width of an open chip
  const label = item.hidden ? `… ${item.hidden.length} …` : item.label
  const text = fitText(pen, label, WIDEST_CHIP - 14)
  return { node: item.hidden ? null : item, hidden: item.hidden ?? null, x, y, text, width: Math.max(22, pen.measureText(text).width + 14) }
}
