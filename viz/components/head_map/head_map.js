import { chosen, forget, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { GIVEN } from "../shared/given.js"
import { unpack } from "../shared/packing.js"
import { hearRows, rowOfToken, rowPointed } from "../shared/row.js"
import { announcer, mounted, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, formatNumber, isolate } from "../shared/words.js"
import { listen, strongest } from "./gestures.js"
import { layOutFigure, measureFigure, pixelOf, xOf, yOf } from "./layout.js"
import { paintFigure, paintTile } from "./paint.js"
import { CLOSEST, isWhole, viewOf, viewWith, wholeView, windowOf, zoomed } from "../shared/view.js"
/** @import { Host } from "../shared/types" */
/** @import { Arrays, Meta, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".head-map", { create: createMap, receive, draw, follow, end: (state) => clearTimeout(state.looking) })
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
function createMap(root, signal) {
  const canvas = element("canvas", { tabIndex: 0, role: "img" })
  const button = (glyph) => element("button", { type: "button", textContent: glyph })
  const [closer, farther, whole] = [button("+"), button("−"), button("⤢")]
  const zoom = element("div", { className: "zoom", hidden: true }, closer, farther, whole)
  const tip = element("div", { className: "tip", hidden: true })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  root.replaceChildren(canvas, zoom, tip, live)
  const state = /** @type {any} */ ({
    root, canvas, zoom, meta: null, buttons: { closer, farther, whole }, tip, announce: announcer(live),
    tile: document.createElement("canvas"), small: document.createElement("canvas"), hovered: null, lit: [null, null], moving: false,
  })
  const act = actions(state)
  closer.addEventListener("click", () => act.zoom(1 / 1.5))
  farther.addEventListener("click", () => act.zoom(1.5))
  whole.addEventListener("click", act.reset)
  listen(state, act)
  hearRows(state, signal, (at) => light(state, at))
  addEventListener(GIVEN, (event) => take(state, /** @type {any} */ (event).detail), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function receive(state, { meta, arrays }) {
  const of = reconcile(state, "of", meta.of)
  if (String(of) === String(meta.of)) show(state, { meta, arrays }) // otherwise the data answers an earlier choice
}

// Show the head that the reader has just chosen, before the page run sends it.
/** @type {(state: State, given: import("../shared/given.js").Given) => void} */
function take(state, { figure, of, bytes }) {
  if (figure !== "head-map" || !state.meta?.of || state.follows) return
  if (!bytes) return forget(state, "of")
  if (String(state.meta.of) === String(of)) return
  chosen(state, "of", of)
  show(state, /** @type {any} */ (unpack(bytes)))
  state.repaint()
}

/**
 * @param {State} state
 * @param {{ meta: Meta, arrays: Arrays }} payload
 */
function show(state, { meta, arrays }) {
  const sameText = String(state.meta?.total) === String(meta.total)
  Object.assign(state, { meta, overview: null, left_out: null, ...arrays })
  state.selected = reconcile(state, "selected", meta.selected)
  if (!sameText || mayAdopt(state, meta.window)) settle(state)
  state.zoomable = Math.max(...meta.total) > 24
  state.hovered = null
  state.tip.hidden = true
  state.canvas.setAttribute("aria-label", meta.texts.summary ?? "")
  const { closer, farther, whole } = state.buttons
  for (const [button, name] of [[closer, "zoom_in"], [farther, "zoom_out"], [whole, "zoom_reset"]]) {
    button.title = meta.texts[name] ?? ""
    button.setAttribute("aria-label", meta.texts[name] ?? "")
  }
}

// Whether a tile may move the view. A tile that answers an outdated request must not; it is drawn at its own place.
function mayAdopt(state, window) {
  if (state.looking || state.root.dataset.panning === "true") return false
  return !state.asked || state.asked === String(window) || performance.now() > state.askedUntil
}

// Set the view to the tile's window: nothing is scaled and no request is pending.
/** @param {State} state */
function settle(state) {
  clearTimeout(state.looking)
  Object.assign(state, { view: viewOf(state.meta.window), looking: 0, asked: null, moving: false })
}

// Compute what depends only on data and theme, then lay the figure out.
/** @param {State} state */
function draw(state) {
  state.theme = readTheme(state.root, state.meta.palette)
  state.measured = measureFigure(state)
  paintTile(state)
  arrange(state)
}

/** @param {State} state */
function arrange(state) {
  const width = state.root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  if (state.layout?.width !== width) state.layout = null
  state.layout = layOutFigure(state, width)
  const { layout, meta, view, root, zoom, buttons } = state
  const atWhole = isWhole(view, meta.total)
  zoom.hidden = !state.zoomable
  buttons.farther.disabled = buttons.whole.disabled = atWhole
  buttons.closer.disabled = Math.max(view.q1 - view.q0, view.k1 - view.k0) <= CLOSEST + 1e-6
  placeZoom(state)
  paintFigure(state)
  const { plot } = layout
  Object.assign(root.dataset, {
    zoomed: String(!atWhole), waiting: String(state.moving), selected: state.selected ? state.selected.join() : "",
    hovered: state.hovered ? state.hovered.join() : "", lit: state.lit.join(), view: [view.q0, view.q1, view.k0, view.k1].join(), window: meta.window.join(),
    geometry: JSON.stringify({ x: plot.x, y: plot.y, width: plot.width, height: plot.height }),
  })
  pointed(state, { total: meta.total, selected: state.selected, hovered: state.hovered, view })
}

// Show another user's view, pinned cell and hovered cell in a map of the same text.
/** @param {State} state */
function follow(state, at) {
  if (String(at.total) !== String(state.meta.total)) return
  chosen(state, "selected", at.selected)
  Object.assign(state, { selected: at.selected, hovered: at.hovered, view: at.view })
  arrange(state)
  if (state.layout) showTip(state)
}

function placeZoom({ zoom, layout }) {
  const { bar, narrow, plot } = layout
  if (narrow) Object.assign(zoom.style, { top: `${bar.y - 8}px`, right: "4px", left: "auto" })
  else Object.assign(zoom.style, { top: `${plot.y + plot.height - zoom.offsetHeight}px`, left: `${bar.x}px`, right: "auto" })
}

// Highlight the row and the column that are pointed at in other figures of the same text.
/** @type {(state: State, at: import("../shared/row.js").PointedRow) => void} */
function light(state, { query, key }) {
  const { meta: { row_labels: rows, col_labels: columns, window }, lit } = state
  const found = [rowOfToken(query, rows, window[0]), rowOfToken(key, columns, window[2])].map((at, axis) => (at === null ? null : at + window[2 * axis]))
  if (String(found) === String(lit)) return
  state.lit = /** @type {State["lit"]} */ (found)
  cancelAnimationFrame(state.frame)
  state.frame = requestAnimationFrame(() => arrange(state))
}

// A unit of the text as other figures identify it: by place and label.
/** @type {(state: State, axis: number, unit: number) => import("../shared/row.js").PointedToken} */
function tokenAt({ meta }, axis, unit) {
  const label = (axis ? meta.col_labels : meta.row_labels)[unit - meta.window[2 * axis]]
  return label === undefined ? null : [unit, label]
}

/** @param {State} state */
function actions(state) {
  const later = () => {
    cancelAnimationFrame(state.frame)
    state.frame = requestAnimationFrame(() => arrange(state))
  }
  const act = {
    hover(cell, touched = false) {
      if (String(cell) === String(state.hovered)) return
      state.hovered = cell
      const [query, key] = cell && !touched ? [0, 1].map((axis) => tokenAt(state, axis, cell[axis])) : [null, null]
      rowPointed(state, { row: cell && cell[0], of: state.meta.total[0], query, key })
      showTip(state)
      later()
    },
    pin(cell, wait) {
      if (!mayChoose(state)) return act.hover(cell && cell[1] !== null ? cell : null) // a touch screen has no hover
      state.selected = cell
      chosen(state, "selected", cell)
      tell(state, state.meta.press && !wait ? "press" : "cell", cell, wait)
      if (cell && wait) {
        state.announce(describe(state, cell[1] === null ? strongest(state, cell[0]) : cell))
        const view = viewWith(state.view, state.meta.total, ...cell)
        if (String(windowOf(view, state.meta.total)) !== String(windowOf(state.view, state.meta.total))) act.look(view)
      }
      if (!cell) {
        act.hover(null)
        state.announce(state.meta.texts.unpinned ?? "")
      }
      arrange(state)
    },
    look(view) {
      Object.assign(state, { view, moving: true, hovered: null })
      state.tip.hidden = true
      clearTimeout(state.looking)
      state.looking = setTimeout(() => ask(state), 150)
      later()
    },
    zoom(factor) {
      const { view, selected, meta } = state
      const inside = (at, start, end) => (at !== null && at !== undefined && at >= start && at < end ? at + 0.5 : (start + end) / 2)
      const query = inside(selected?.[0], view.q0, view.q1)
      act.look(zoomed(view, meta.total, factor, query, inside(selected?.[1], view.k0, view.k1)))
    },
    reset: () => act.look(wholeView(state.meta.total)),
  }
  return act
}

// When the gesture ends, request the exact tile of the current view from the host.
/** @param {State} state */
function ask(state) {
  const window = windowOf(state.view, state.meta.total)
  state.looking = 0
  if (!state.asked && String(window) === String(state.meta.window)) {
    settle(state)
    arrange(state)
    return
  }
  Object.assign(state, { asked: String(window), askedUntil: performance.now() + 5000 })
  state.send("window", window)
}

// The sentence about a cell; null outside the tile.
/** @param {State} state */
function describe(state, [query, key]) {
  const { meta, values } = state
  const { texts, window, pool } = meta
  if (key === null || query < window[0] || query >= window[1] || key < window[2] || key >= window[3]) return ""
  const row = Math.floor((query - window[0]) / pool[0])
  const column = Math.floor((key - window[2]) / pool[1])
  const at = row * values.shape[1] + column
  const value = values[at]
  const name = (labels, unit, first) => labels[unit - first] ?? String(unit)
  const facts = {
    query: isolate(name(meta.row_labels, query, window[0])), query_index: query,
    key: isolate(name(meta.col_labels, key, window[2])), key_index: key,
    value: formatNumber(value, meta.number, texts),
  }
  if (state.left_out?.[at]) return fill(texts.left_out ?? texts.left_out_label, facts)
  if (Number.isNaN(value)) return fill(texts.masked ?? texts.masked_label, facts)
  const [rows, columns] = [pixelOf(meta, 0, query), pixelOf(meta, 1, key)].map(([from, to]) => to - from)
  return fill(pool[0] * pool[1] > 1 ? texts.pooled : texts.cell, { ...facts, n: rows * columns })
}

/** @param {State} state */
function showTip(state) {
  const { tip, hovered, layout, meta, root } = state
  tip.hidden = !hovered
  if (!hovered) return
  tip.textContent = describe(state, hovered)
  state.announce(tip.textContent)
  const right = xOf(state, pixelOf(meta, 1, hovered[1])[1])
  const bottom = yOf(state, pixelOf(meta, 0, hovered[0])[1])
  const left = xOf(state, pixelOf(meta, 1, hovered[1])[0])
  const x = right + 10 + tip.offsetWidth <= root.clientWidth ? right + 10 : Math.max(0, left - 10 - tip.offsetWidth)
  const y = bottom + 10 + tip.offsetHeight <= layout.height ? bottom + 10 : yOf(state, hovered[0]) - 10 - tip.offsetHeight
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(Math.max(0, y))}px)`
}
