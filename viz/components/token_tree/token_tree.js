import { chosen, reconcile } from "../shared/choice.js"
import { closest, element, svg } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { bringIntoView, partOf } from "../shared/in_view.js"
import { inRoom } from "../shared/room.js"
import { announcer, markPainted, mounted, plainKey, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { chipNode, counted, describe, drawLegend, edgeNode, moreNode, nameNode } from "./drawing.js"
import { layout, nodesOf, ROW, runFrom } from "./layout.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State, Told } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".token-tree", { create, receive, draw, follow })
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const focused = state.focused?.id
  const before = state.openNode?.id
  Object.assign(state, { meta, arrays, hover: null })
  state.nodes = nodesOf(state)
  state.byId = new Map(state.nodes.map((node) => [node.id, node]))
  state.focused = state.byId.get(focused) ?? null
  openLocally(state, reconcile(state, "opened", meta.opened))
  state.reveal = state.openNode.id !== before
}

// `hover` and `focused` are the nodes under the pointer and with the keyboard focus. `expanded` has the ids of the
// first nodes of long runs that the reader has expanded.
function create(root) {
  const scroller = element("div", { className: "scroller", tabIndex: 0, role: "tree" })
  const caption = element("div", { className: "caption", "aria-hidden": "true" })
  const legend = element("div", { className: "legend" })
  const spoken = element("div", { className: "spoken", "aria-live": "polite" })
  root.append(scroller, caption, legend, spoken)
  const state = { scroller, caption, legend, clicked: "", hover: null, focused: null, expanded: new Set(), reveal: true }
  state.announce = announcer(spoken)
  for (const name of ["pointerover", "pointermove"]) scroller.addEventListener(name, (event) => onPointer(state, event))
  scroller.addEventListener("pointerleave", () => setHover(state, null))
  scroller.addEventListener("click", (event) => onClick(state, event))
  scroller.addEventListener("keydown", (event) => onKey(state, event))
  scroller.addEventListener("blur", () => setFocus(state, null))
  return state
}

/** @param {State} state */
function draw(state) {
  const { root } = state
  const theme = readTheme(root, state.meta.palette)
  const at = layout(state, theme.font)
  state.at = at
  const edges = at.edges.map((edge) => edgeNode(edge, state))
  edges.sort((a, b) => Number(a.classList.contains("path")) - Number(b.classList.contains("path"))) // the open branch above the others
  const picture = svg(
    "svg",
    { width: at.width, height: at.height, viewBox: `0 0 ${at.width} ${at.height}`, role: "presentation" },
    svg("g", { class: "edges", "aria-hidden": "true" }, ...edges),
    ...at.chips.map((chip) => (chip.node ? chipNode(chip, state) : moreNode(chip, state))),
    ...at.names.map(nameNode),
  )
  const { scrollLeft, scrollTop } = state.scroller
  state.scroller.replaceChildren(picture)
  state.scroller.style.maxHeight = `${inRoom(state.meta.max_height)}px`
  Object.assign(state.scroller, { scrollLeft, scrollTop })
  state.scroller.setAttribute("aria-label", counted(state, state.meta.texts.summary))
  drawLegend(state)
  if (state.reveal) reveal(state, state.focused ?? state.openNode)
  state.reveal = false
  root.dataset.opened = state.openNode.id
  root.dataset.nodes = String(state.nodes.length)
  root.dataset.chips = String(at.chips.length)
  paintCurrent(state)
}

// ---- the open node, and the one that is looked at -------------------------------------------------------------------

// An unknown id, of a branch that no longer exists, opens the prompt.
function openLocally(state, id) {
  state.openNode = state.byId.get(id) ?? state.nodes[0]
  state.path = new Set()
  for (let node = state.openNode; node; node = node.parent) state.path.add(node)
}

function open(state, node) {
  openLocally(state, node.id)
  chosen(state, "opened", node.id)
  tell(state, "node", node.id)
  bringIntoView(partOf(state.meta.shows))
  state.reveal = true
  draw(state)
}

function paintCurrent(state) {
  const { root, scroller, hover, focused, openNode } = state
  const current = hover ?? focused ?? openNode
  for (const node of scroller.querySelectorAll(".chip.current")) node.classList.remove("current")
  if (current !== openNode || focused) chipAt(state, current)?.classList.add("current")
  if (focused) scroller.setAttribute("aria-activedescendant", `node-${focused.i}`)
  else scroller.removeAttribute("aria-activedescendant")
  state.caption.textContent = describe(state, current)
  root.dataset.current = current.id
  if (hover ?? focused) state.announce(describe(state, current))
  markPainted(root)
  pointed(state, { of: treeOf(state), opened: openNode.i, hover: hover?.i, focused: focused?.i, expanded: expandedOf(state) })
}

/** @param {State} state */
const treeOf = ({ nodes }) => `${nodes.length} ${nodes.reduce((sum, node) => sum + node.depth, 0)}`

// The expanded nodes by index in the payload, since the id of a node is as long as the path to it.
/** @param {State} state */
const expandedOf = ({ nodes, expanded }) => nodes.filter(({ id }) => expanded.has(id)).map(({ i }) => i)

// Show what another user opens, expands and points at in the same tree.
/** @type {(state: State, told: Told) => void} */
function follow(state, { of, opened, hover, focused, expanded }) {
  if (of !== treeOf(state)) return
  const { nodes } = state
  const before = [state.openNode.i, ...expandedOf(state)].join()
  openLocally(state, nodes[opened].id)
  chosen(state, "opened", nodes[opened].id)
  state.expanded = new Set(expanded.map((i) => nodes[i].id))
  Object.assign(state, { hover: nodes[hover ?? -1] ?? null, focused: nodes[focused ?? -1] ?? null })
  if (before !== [opened, ...expanded].join()) draw(state)
  reveal(state, state.hover ?? state.focused ?? state.openNode)
  paintCurrent(state)
}

const chipAt = ({ scroller }, node) => scroller.querySelector(`#node-${node.i}`)

// Scroll to a node and some of what follows it. scrollIntoView would scroll the whole page.
function reveal({ scroller, at }, node) {
  const chip = at.chips.find((one) => one.node === node)
  if (!chip) return
  const ahead = Math.min(160, Math.max(0, scroller.clientWidth - chip.width - 16))
  if (chip.x - 40 < scroller.scrollLeft) scroller.scrollLeft = chip.x - 40
  else if (chip.x + chip.width + ahead > scroller.scrollLeft + scroller.clientWidth)
    scroller.scrollLeft = chip.x + chip.width + ahead - scroller.clientWidth
  const [top, bottom] = [chip.y - ROW, chip.y + ROW]
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight
}

// ---- pointer and keys -----------------------------------------------------------------------------------------------

const nodeOf = (state, event) => state.byId.get(closest(event, ".chip")?.dataset.id) ?? null

// Touch is handled in onClick. After a click the tree may move under a resting pointer, which must not count as
// hovering.
function onPointer(state, event) {
  if (event.pointerType !== "touch" && String(pointOf(event)) !== state.clicked) setHover(state, nodeOf(state, event))
}

const pointOf = ({ clientX, clientY }) => [clientX, clientY].map(Math.floor) // click events have integer coordinates

function setHover(state, node) {
  if (node === state.hover) return
  state.hover = node
  paintCurrent(state)
}

function setFocus(state, node) {
  if (node === state.focused) return
  state.focused = node
  if (node && !chipAt(state, node)) {
    expandAround(state, node)
    draw(state)
  }
  if (node) reveal(state, node)
  paintCurrent(state)
}

function onClick(state, event) {
  const more = closest(event, ".more")
  const node = nodeOf(state, event)
  if (more) {
    expandAround(state, state.byId.get(more.dataset.hides))
    draw(state)
  } else if (node) {
    if (!mayChoose(state)) return setHover(state, node) // a touch screen has no hover
    Object.assign(state, { focused: null, hover: null, clicked: String(pointOf(event)) })
    open(state, node)
  }
}

// Show the whole run that this node is hidden in.
function expandAround(state, node) {
  let first = node
  while (first.parent && first.parent.children.length === 1) first = first.parent
  state.expanded.add(first.id)
}

function onKey(state, event) {
  if (!plainKey(event)) return
  const here = state.focused ?? state.openNode
  const moves = {
    ArrowLeft: () => here.parent ?? here,
    ArrowRight: () => here.children.find((child) => state.path.has(child)) ?? here.children[0] ?? here,
    ArrowUp: () => neighbour(state, here, -1),
    ArrowDown: () => neighbour(state, here, 1),
    Home: () => state.nodes[0],
    End: () => runFrom(here).at(-1),
  }
  if (event.key in moves) setFocus(state, moves[event.key]())
  else if ((event.key === "Enter" || event.key === " ") && mayChoose(state)) open(state, here)
  else if (event.key === "Escape") setFocus(state, null)
  else return
  event.preventDefault()
}

// The nearest token above or below, preferably at the same distance from the prompt.
function neighbour({ nodes }, here, direction) {
  const beyond = nodes.filter((node) => (node.row - here.row) * direction > 0)
  const distance = (node) => Math.abs(node.depth - here.depth) * nodes.length + Math.abs(node.row - here.row)
  return beyond.reduce((best, node) => (distance(node) < distance(best) ? node : best), beyond[0] ?? here)
}
