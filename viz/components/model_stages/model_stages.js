import { sizeCanvas } from "../shared/canvas.js"
import { closest, element, focusedBeside } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { clamp } from "../shared/numbers.js"
import { pointIn } from "../shared/room.js"
import { markPainted, mounted, tell } from "../shared/shell.js"
import { css, rampColor, readTheme } from "../shared/theme.js"
import { fill, formatPlain } from "../shared/words.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, StageRow, State } from "./types" */

const NARROW = 620 // CSS pixels: below, the strip of a row is under its text
const STRIP = 14 // the height of a strip

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".model-stages", { create, receive, draw, follow })
}

function create(root, signal) {
  const state = /** @type {any} */ ({ root, canvases: [], at: null, mark: element("i", { className: "mark" }), tip: element("div", { className: "tip" }) })
  const on = (name, act) => root.addEventListener(name, act, { signal })
  on("click", (event) => {
    const row = closest(event, "button.row")
    if (row) tell(state, "block", Number(row.dataset.block))
  })
  on("pointermove", (event) => event.pointerType !== "touch" && look(state, placeOf(state, event)))
  on("pointerleave", () => look(state, null))
  on("focusin", (event) => look(state, placeOf(state, event)))
  on("focusout", () => look(state, null))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const before = state.meta && sizeOf(state)
  Object.assign(state, { meta, vectors: arrays.vectors })
  if (sizeOf(state) !== before) state.at = null
  const focused = /** @type {HTMLElement | null} */ (focusedBeside(state.root))?.dataset?.block
  const head = element("div", { className: "row head", "aria-hidden": "true" }, element("i"))
  head.append(...meta.columns.map((words, i) => element("span", { className: ["name", "shapes", "size", "vector"][i], textContent: words })))
  state.root.classList.toggle("no-sizes", meta.rows.every((row) => row.share === null && !row.size))
  const most = Math.max(0, ...meta.rows.map((row) => row.share ?? 0)) || 1 // the longest bar has all the room: a small share is seen, too
  const rows = meta.rows.map((row, i) => rowNode(state, row, i, most))
  const list = element("div", { className: "rows", role: "group", "aria-label": meta.texts.label }, ...rows)
  if (!mayChoose(state) || meta.rows.every((row) => row.block === null)) list.tabIndex = 0 // it may scroll, and nothing in it has the keyboard
  list.style.setProperty("--most", `${meta.max_height}px`)
  state.list = list
  list.addEventListener("scroll", () => showLooked(state), { passive: true }) // the strip goes on, its mark goes with it
  state.root.replaceChildren(head, list, state.mark, state.tip)
  const again = focused === undefined ? null : /** @type {HTMLElement | null} */ (list.querySelector(`button[data-block="${focused}"]`))
  again?.focus({ preventScroll: true })
}

/**
 * @param {State} state
 * @param {StageRow} row
 * @param {number} i
 * @param {number} most the largest share of all rows
 */
function rowNode(state, row, i, most) {
  const [, d] = state.vectors.shape
  const canvas = element("canvas", { role: "img", "aria-label": `${row.title} · ${row.length}` })
  const drawn = d > 0 && Number.isFinite(state.vectors[i * d])
  state.canvases[i] = canvas
  const bar = element("span", { className: "bar" })
  if (row.share !== null) bar.style.setProperty("--share", `${100 * clamp(row.share / most, 0, 1)}%`)
  const node = element(
    row.block === null ? "div" : "button",
    { className: `row ${row.kind} depth-${row.depth}${row.open ? " open" : ""}` },
    element("i"),
    element("span", { className: "name" }, element("b", { textContent: row.title }), element("code", { textContent: row.module })),
    element("span", { className: "shapes", textContent: row.shapes }),
    element("span", { className: "size" }, bar, element("em", { textContent: row.size })),
    element("span", { className: "vector" }, ...(drawn ? [element("span", { className: "strip" }, canvas), element("em", { textContent: row.length })] : [])),
  )
  node.dataset.index = String(i)
  if (row.block !== null) {
    node.dataset.block = String(row.block)
    node.setAttribute("type", "button")
    node.toggleAttribute("disabled", !mayChoose(state))
    node.setAttribute("aria-expanded", String(row.open))
  }
  return node
}

// One column per dimension: red above zero, blue below, each strip scaled to its own largest number.
/** @param {State} state */
function draw(state) {
  const { root, meta, vectors, canvases } = state
  if (!root.clientWidth) return // not shown yet: the observer calls again
  const theme = (state.theme = readTheme(root, meta.palette))
  root.classList.toggle("narrow", root.clientWidth < NARROW)
  const [, d] = vectors.shape
  meta.rows.forEach((_, i) => {
    const canvas = canvases[i]
    const width = canvas.parentElement?.clientWidth ?? 0
    if (!width) return
    const own = vectors.subarray(i * d, (i + 1) * d)
    const largest = own.reduce((found, value) => Math.max(found, Math.abs(value)), 0) || 1
    const context = sizeCanvas(canvas, width, STRIP)
    own.forEach((value, at) => {
      context.fillStyle = css(rampColor(theme.diverging, (value / largest + 1) / 2))
      context.fillRect((at * width) / d, 0, width / d + 0.5, STRIP)
    })
  })
  markPainted(root)
  showLooked(state)
}

// ---- what is pointed at: a row, and a dimension of its vector
// ---------------------------------------------------------

// The row under the pointer or with the focus, and the dimension in its strip; null outside the rows.
/** @type {(state: State, event: any) => State["at"]} */
function placeOf({ vectors }, event) {
  const row = closest(event, ".rows .row")
  if (!row) return null
  const at = { row: Number(row.dataset.index), dimension: /** @type {number | null} */ (null) }
  if (!(event.target instanceof HTMLCanvasElement)) return at
  const [, d] = vectors.shape
  const box = event.target.getBoundingClientRect()
  return { ...at, dimension: clamp(Math.floor(((event.clientX - box.left) / box.width) * d), 0, d - 1) }
}

/** @type {(state: State, at: State["at"]) => void} */
function look(state, at) {
  if (at?.row === state.at?.row && at?.dimension === state.at?.dimension) return
  state.at = at
  showLooked(state)
}

/** @param {State} state */
function showLooked(state) {
  const { list, at, mark, tip } = state
  for (const node of /** @type {any} */ (list.children)) node.classList.toggle("pointed", Number(node.dataset.index) === at?.row)
  mark.hidden = tip.hidden = at === null || at.dimension === null
  if (!tip.hidden) nameDimension(state)
  pointed(state, { of: sizeOf(state), at })
}

// Mark the dimension in its strip, and describe it beside the strip.
/** @param {State} state */
function nameDimension({ root, canvases, meta, vectors, at, mark, tip }) {
  const { row, dimension } = /** @type {{ row: number, dimension: number }} */ (at)
  const [, d] = vectors.shape
  const value = formatPlain(vectors[row * d + dimension])
  tip.textContent = fill(meta.texts.dimension, { title: meta.rows[row].title, dimension, value })
  const strip = canvases[row].getBoundingClientRect()
  const { x: left, y: top } = pointIn({ clientX: strip.left, clientY: strip.top }, root)
  const step = canvases[row].clientWidth / d
  Object.assign(mark.style, { left: `${left + dimension * step}px`, top: `${top}px`, width: `${Math.max(2, step)}px` })
  const middle = left + (dimension + 0.5) * step - tip.offsetWidth / 2
  const below = top + STRIP + 6 + tip.offsetHeight <= root.clientHeight
  const y = below ? top + STRIP + 6 : top - 6 - tip.offsetHeight
  Object.assign(tip.style, { left: `${clamp(middle, 0, Math.max(0, root.clientWidth - tip.offsetWidth))}px`, top: `${y}px` })
}

const sizeOf = ({ meta, vectors }) => [meta.rows.length, vectors.shape[1], meta.rows.findIndex((row) => row.open)].join()

// What another user looks at among the same number of stages, with the same ones open.
/** @type {(state: State, told: { of: string, at: State["at"] }) => void} */
function follow(state, { of, at }) {
  if (of !== sizeOf(state)) return
  const { list } = state
  state.at = at
  const node = at && /** @type {HTMLElement} */ (list.children[at.row])
  if (node) {
    const [frame, box] = [list.getBoundingClientRect(), node.getBoundingClientRect()]
    if (box.top < frame.top) list.scrollTop -= frame.top - box.top
    else if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom
  }
  showLooked(state)
}
