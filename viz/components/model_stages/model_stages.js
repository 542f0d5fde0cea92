import { sizeCanvas } from "../shared/canvas.js"
import { closest, element, focusedBeside } from "../shared/dom.js"
import { clamp } from "../shared/numbers.js"
import { markPainted, mounted, tell } from "../shared/shell.js"
import { css, rampColor, readTheme } from "../shared/theme.js"
import { fill, formatPlain } from "../shared/words.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, Row, State } from "./payload" */

const NARROW = 620 // CSS pixels: below, the strip of a row stands under its words
const STRIP = 14 // the height of a strip

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".model-stages", { create, receive, draw })
}

function create(root) {
  const state = /** @type {any} */ ({ root, canvases: [] })
  root.addEventListener("click", (event) => {
    const row = closest(event, "button.row")
    if (row) tell(state, "block", Number(row.dataset.block))
  })
  root.addEventListener("pointermove", (event) => nameDimension(state, event))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  Object.assign(state, { meta, vectors: arrays.vectors })
  const focused = /** @type {HTMLElement | null} */ (focusedBeside(state.root))?.dataset?.block
  const head = element("div", { className: "row head", "aria-hidden": "true" }, element("i"))
  head.append(...meta.columns.map((words, i) => element("span", { className: ["name", "shapes", "size", "vector"][i], textContent: words })))
  const rows = meta.rows.map((row, i) => rowNode(state, row, i))
  const list = element("div", { className: "rows", role: "group", "aria-label": meta.texts.label }, ...rows)
  if (meta.rows.every((row) => row.block === null)) list.tabIndex = 0 // it may scroll, and nothing in it has the keyboard
  list.style.setProperty("--most", `${meta.max_height}px`)
  state.root.replaceChildren(head, list)
  const again = focused === undefined ? null : /** @type {HTMLElement | null} */ (list.querySelector(`button[data-block="${focused}"]`))
  again?.focus({ preventScroll: true })
}

/**
 * @param {State} state
 * @param {Row} row
 */
function rowNode(state, row, i) {
  const [, d] = state.vectors.shape
  const canvas = element("canvas", { role: "img", "aria-label": `${row.title} · ${row.length}` })
  const drawn = d > 0 && Number.isFinite(state.vectors[i * d])
  state.canvases[i] = canvas
  const bar = element("span", { className: "bar" })
  if (row.share !== null) bar.style.setProperty("--share", `${100 * clamp(row.share, 0, 1)}%`)
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
    node.setAttribute("aria-expanded", String(row.open))
  }
  return node
}

// One column a dimension: red above zero, blue below, each strip to its own largest number.
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
}

/** @param {State} state */
function nameDimension({ meta, vectors }, event) {
  if (!(event.target instanceof HTMLCanvasElement)) return
  const row = closest(event, ".row")
  const [, d] = vectors.shape
  const box = event.target.getBoundingClientRect()
  const dimension = clamp(Math.floor(((event.clientX - box.left) / box.width) * d), 0, d - 1)
  const index = Number(row?.dataset.index)
  const value = formatPlain(vectors[index * d + dimension])
  event.target.title = fill(meta.texts.dimension, { title: meta.rows[index].title, dimension, value })
}
