import { chosen, reconcile } from "../shared/choice.js"
import { element } from "../shared/dom.js"
import { mayChoose, pointed } from "../shared/follow.js"
import { CLEAR } from "../shared/hatch.js"
import { announcer, later, markPainted, mounted, tell } from "../shared/shell.js"
import { ramp, readTheme } from "../shared/theme.js"
import { isWhole, panned, viewOf, viewWith, wholeView, windowOf, zoomed } from "../shared/view.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { listen, listenMini } from "./gestures.js"
import { colorTable, halves } from "./half.js"
import { cellOf, layOut, sizeOf, xAt, yAt, zoomOf } from "./layout.js"
import { paintMap, paintMini } from "./paint.js"
import { cellsAt, nameOf, pixelAt, tilesIn, viewAround } from "./pyramid.js"
import { find, indexed, nextOf } from "./search.js"
import { createSide, markLook, nameSide, showLooks, showReading } from "./side.js"
import { closeStore, held, openStore, want } from "./tiles.js"
/** @import { Host } from "../shared/types" */
/** @import { State } from "./types" */

const CLOSE = 32 // tokens in view where a jump ends
const SMALL_MAP = { zoom: 0, x: 0, y: 0 }
const RESTS = 500 // milliseconds after which the view is told

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".long-map", { create, receive, draw, end, follow })
}

function create(root) {
  const canvas = element("canvas", { tabIndex: 0, role: "img" })
  const { side, parts } = createSide()
  const tip = element("div", { className: "tip", hidden: true })
  const live = element("div", { className: "spoken", "aria-live": "polite" })
  const figure = element("div", { className: "figure" }, canvas, tip)
  root.replaceChildren(figure, side, live)
  const state = /** @type {any} */ ({
    root, canvas, tip, side, parts, mini: parts.mini, announce: announcer(live), hovered: null, found: [], looking: 0, refusals: new Set(),
  })
  const act = actions(state)
  state.act = act
  listen(state, act)
  listenMini(state, act)
  parts.closer.addEventListener("click", () => act.zoom(1 / 1.5))
  parts.farther.addEventListener("click", () => act.zoom(1.5))
  parts.whole.addEventListener("click", act.whole)
  parts.words.addEventListener("input", () => act.search())
  parts.words.addEventListener("keydown", (event) => event.key === "Enter" && act.follow(!event.shiftKey))
  parts.before.addEventListener("click", () => act.follow(false))
  parts.after.addEventListener("click", () => act.follow(true))
  return state
}

function end(state) {
  closeStore(state.store)
  clearTimeout(state.looking)
}

/**
 * @param {State} state
 * @param {{ meta: any }} payload
 */
function receive(state, { meta }) {
  const before = state.meta
  state.meta = meta
  const other = !before || before.ticket !== meta.ticket || before.layer !== meta.layer || before.head !== meta.head
  if (other) {
    closeStore(state.store)
    const changed = () => later(state, () => arrange(state))
    state.store = openStore(meta, changed, () => refused(state))
  }
  state.store.meta = meta
  const otherText = !before || before.labels.join() !== meta.labels.join()
  if (otherText) Object.assign(state, { view: null, index: indexed(meta.labels) })
  const given = reconcile(state, "window", meta.window)
  if (!state.view || String(given) !== String(state.adopted)) {
    state.adopted = given
    state.view = given ? viewOf(given) : wholeView(sizeOf(state))
  }
  state.selected = reconcile(state, "selected", meta.selected)
  state.hovered = null
  state.tip.hidden = true
  state.found = find(state.index, state.parts.words.value)
  state.canvas.setAttribute("aria-label", meta.texts.summary)
  nameSide(state, meta)
  showLooks(state, (cell) => state.act.go(cell))
}

// The ticket has expired, possibly with a lost connection: the page is asked for another one, once for each.
function refused(state) {
  const { ticket } = state.meta
  if (state.refusals.has(ticket) || state.refusals.size > 3) return
  state.refusals.add(ticket)
  state.send("refused", ticket)
}

function draw(state) {
  const { meta, root } = state
  state.theme = readTheme(root, meta.palette)
  const colors = ramp(state.theme.sequential)
  const place = meta.log ? (value) => Math.log(Math.max(value, meta.low) / meta.low) / Math.log(1 / meta.low) : (value) => value
  state.words = colorTable(colors, CLEAR, (value) => Math.min(1, Math.max(0, place(value))))
  arrange(state)
}

function arrange(state) {
  const { root, meta, view, store, parts, selected } = state
  const width = state.canvas.parentElement.clientWidth
  if (!width) return // not shown yet: the observer calls again
  state.layout = layOut(state, width)
  const zoom = zoomOf(state)
  const tiles = tilesIn(view, meta.tokens, zoom, meta.causal)
  if (meta.ticket) want(store, [...tiles, SMALL_MAP])
  const size = sizeOf(state)
  parts.farther.disabled = parts.whole.disabled = isWhole(view, size)
  parts.closer.disabled = view.q1 - view.q0 <= 6 + 1e-6
  parts.count.textContent = parts.words.value.trim() ? fill(meta.texts.found, { n: wholeNumber(state.found.length) }) : ""
  parts.before.disabled = parts.after.disabled = !state.found.length
  state.canvas.style.cursor = isWhole(view, size) ? "crosshair" : "grab"
  state.canvas.style.touchAction = isWhole(view, size) ? "pan-x pan-y" : "none"
  paintMap(state)
  paintMini(state)
  showReading(state)
  markLook(state)
  const missing = tiles.filter((tile) => !store.held.has(nameOf(tile)) && !store.missing.has(nameOf(tile)))
  const { plot } = state.layout
  Object.assign(root.dataset, {
    zoom: String(zoom), missing: String(missing.length), view: [view.q0, view.q1, view.k0, view.k1].join(), waiting: String(missing.length > 0),
    selected: selected ? selected.join() : "", geometry: JSON.stringify({ x: plot.x, y: plot.y, width: plot.width, height: plot.height }),
  })
  markPainted(root)
  pointed(state, { of: partOf(meta), view, hovered: state.hovered, selected, words: parts.words.value })
}

const partOf = ({ layer, head, tokens }) => [layer, head, tokens]

// What another user looks at in a map of the same head: the view, the pinned cell, the one under the pointer, the
// search.
/** @param {State} state */
function follow(state, { of, view, hovered, selected, words }) {
  if (String(of) !== String(partOf(state.meta))) return
  chosen(state, "selected", selected)
  Object.assign(state, { view, hovered, selected })
  if (state.parts.words.value !== words) {
    state.parts.words.value = words
    state.found = find(state.index, words)
  }
  arrange(state)
  if (state.layout) showTip(state)
}

function actions(state) {
  const act = {
    hover(cell) {
      if (String(cell) === String(state.hovered)) return
      state.hovered = cell
      showTip(state)
      later(state, () => arrange(state))
    },
    pin(cell, wait = 0) {
      if (!mayChoose(state)) return act.hover(cell && cell[1] !== null ? cell : null) // a finger has no other way to look
      state.selected = cell
      chosen(state, "selected", cell)
      tell(state, "cell", cell, wait)
      if (!cell) act.hover(null)
      arrange(state)
    },
    look(view) {
      Object.assign(state, { view, hovered: null })
      state.tip.hidden = true
      clearTimeout(state.looking)
      state.looking = setTimeout(() => {
        const size = sizeOf(state)
        const window = isWhole(view, size) ? null : windowOf(view, size)
        state.view = window ? viewOf(window) : wholeView(size) // whole tokens, so that a copied address shows just this
        chosen(state, "window", window)
        state.adopted = window
        state.send("window", window)
        arrange(state)
      }, RESTS)
      later(state, () => arrange(state))
    },
    zoom(factor) {
      const { view, selected } = state
      const inside = selected && selected[0] >= view.q0 && selected[0] < view.q1 && selected[1] >= view.k0 && selected[1] < view.k1
      const [query, key] = inside ? [selected[0] + 0.5, selected[1] + 0.5] : [(view.q0 + view.q1) / 2, (view.k0 + view.k1) / 2]
      act.look(zoomed(view, sizeOf(state), factor, query, key))
    },
    whole: () => act.look(wholeView(sizeOf(state))),
    go([query, key]) {
      act.look(viewAround(state.meta.tokens, query, key ?? query, CLOSE))
      act.pin([query, key])
    },
    step([down, right]) {
      const { view, meta } = state
      const selected = mayChoose(state) ? state.selected : (state.hovered ?? state.selected)
      const size = sizeOf(state)
      if (!selected) return act.look(panned(view, size, (down * (view.q1 - view.q0)) / 8, (right * (view.k1 - view.k0)) / 8))
      const clipped = (at) => Math.min(meta.tokens - 1, Math.max(0, at))
      const cell = /** @type {[number, number]} */ ([clipped(selected[0] + down), clipped((selected[1] ?? selected[0]) + right)])
      act.pin(cell, 150) // a held key tells once, when it rests
      state.announce(describe(state, cell))
      const shown = viewWith(view, size, cell[0], cell[1])
      if (String(windowOf(shown, size)) !== String(windowOf(view, size))) act.look(shown)
    },
    search() {
      state.found = find(state.index, state.parts.words.value)
      arrange(state)
    },
    follow(forward) {
      const token = nextOf(state.found, state.selected?.[0] ?? -1, forward)
      if (token !== null) act.go([token, null])
    },
  }
  return act
}

// The sentence about a cell, from the closest tile that is here; empty while there is none.
function describe(state, [query, key]) {
  const { meta, store } = state
  if (key === null) return ""
  const facts = { query: isolate(meta.labels[query]), query_index: wholeNumber(query), key: isolate(meta.labels[key]), key_index: wholeNumber(key) }
  for (let zoom = zoomOf(state); zoom >= 0; zoom--) {
    const { tile, row, column } = pixelAt(meta.tokens, zoom, query, key)
    const found = held(store, tile)
    if (!found) continue
    const cells = cellsAt(meta.tokens, zoom)
    const apart = key === 0 && cells > 1
    const value = halves()[apart ? found.first[meta.pooling][row] : found[meta.pooling][row * 256 + column]]
    if (Number.isNaN(value)) return fill(meta.texts.cannot, facts)
    const shown = formatNumber(value, "percent", meta.texts)
    if (cells === 1) return fill(meta.texts.cell, { ...facts, value: shown })
    return fill(meta.texts[apart ? "first_cells" : `pixel_${meta.pooling}`], { ...facts, value: shown, n: cells })
  }
  return meta.causal && key > query ? fill(meta.texts.cannot, facts) : ""
}

function showTip(state) {
  const { tip, hovered, layout } = state
  const words = hovered ? describe(state, hovered) : ""
  tip.hidden = !words
  if (!words) return
  tip.textContent = words
  state.announce(words)
  const cell = cellOf(state)
  const [x, y] = [Math.max(xAt(state, hovered[1]), layout.strip.x), yAt(state, hovered[0])]
  const left = x + cell + 12 + tip.offsetWidth <= layout.width ? x + cell + 12 : Math.max(0, x - 12 - tip.offsetWidth)
  const top = y + cell + 12 + tip.offsetHeight <= layout.height ? y + cell + 12 : Math.max(0, y - 12 - tip.offsetHeight)
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`
}
