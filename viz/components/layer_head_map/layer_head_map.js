export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".layer-head-map")
  const state = stateOf(root, createMap)
  state.tell = (cell) => setTriggerValue("head", cell)
  receive(state, data)
  arrange(state)
  return state.dispose
}

function createMap(root) {
  const canvas = element("canvas", { tabIndex: 0, role: "img" })
  const sheet = element("div", { className: "sheet" }, canvas)
  const scroller = element("div", { className: "scroller" }, sheet)
  const caption = element("div", { className: "caption" })
  const bar = element("div", { className: "bar", "aria-hidden": "true" })
  const live = element("div", { className: "live", "aria-live": "polite" })
  root.replaceChildren(scroller, element("div", { className: "foot" }, caption, bar), live)
  const state = { root, canvas, sheet, scroller, caption, bar, hovered: null }
  state.announce = announcer(live)
  const repaint = () => {
    state.theme = readTheme(root, state.meta.palette)
    arrange(state)
  }
  keepDrawn(state, repaint, () => clearTimeout(state.telling))
  listen(state)
  return state
}

function receive(state, data) {
  const { meta, arrays } = unpack(data)
  const [rows, columns] = arrays.values.shape
  const named = (labels, letter, count) => labels ?? Array.from({ length: count }, (_, i) => `${letter}${i}`)
  Object.assign(state, {
    meta, rows, columns, values: arrays.values,
    rowLabels: named(meta.row_labels, "L", rows), columnLabels: named(meta.column_labels, "H", columns),
  })
  state.theme = readTheme(state.root, meta.palette)
  state.open = inside(state, reconcile(state, "open", meta.open))
  state.hovered = inside(state, state.hovered)
  const { title, texts } = meta
  state.canvas.setAttribute("aria-label", fill(texts.summary, { title, rows: texts.rows, columns: texts.columns }))
}

// A cell of an earlier, larger map is none.
const inside = ({ rows, columns, meta }, cell) =>
  cell && cell[0] < rows && cell[1] < columns && !(cell[0] in meta.notes) ? cell : null

// Lay the sheet out for the width there is, and paint it.
function arrange(state) {
  const { root, meta, theme, scroller } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  const context = state.canvas.getContext("2d")
  const measure = (text) => {
    context.font = `11px ${theme.font}`
    return context.measureText(text).width
  }
  state.layout = layOut(state, width, measure)
  const tall = state.layout.height > meta.max_height + 0.5
  if (tall) state.layout = layOut(state, width - 12, measure) // room for the scroll bar
  state.viewWidth = width - (tall ? 12 : 0)
  state.viewHeight = Math.min(state.layout.height, meta.max_height)
  scroller.style.height = `${Math.ceil(state.viewHeight)}px`
  scroller.style.overflowX = state.layout.width > state.viewWidth ? "auto" : "hidden"
  scroller.style.overflowY = tall ? "auto" : "hidden"
  Object.assign(state.sheet.style, { width: `${state.layout.width}px`, height: `${state.layout.height}px` })
  state.numbers = fitNumbers(context, state)
  drawBar(state)
  if (state.open && state.kept !== String(state.open)) keepInSight(state, state.open)
  refresh(state)
}

function refresh(state) {
  paint(state)
  const shown = state.hovered ?? state.open
  const { caption } = state
  caption.textContent = shown ? describe(state, shown) : ""
  if (caption.scrollWidth > caption.clientWidth) caption.textContent = describeCell(state, shown)
  const { dataset } = state.root
  dataset.open = state.open ? state.open.join() : ""
  dataset.hovered = state.hovered ? state.hovered.join() : ""
  const { left, top, pitchX, pitchY, slanted, columnGroup, rowGroup } = state.layout
  dataset.geometry = JSON.stringify({ left, top, pitchX, pitchY, slanted, columnGroup, rowGroup, groupGap: GROUP_GAP })
}

// The cell, and the heads it shares with where it is one of the open head's group.
function describe(state, cell) {
  const { texts } = state.meta
  const mates = matesOf(state)
  if (!texts.shared || !mates.some((mate) => String(mate) === String(cell))) return describeCell(state, cell)
  const axis = state.layout.columnGroup ? 1 : 0
  return `${describeCell(state, cell)} · ${fill(texts.shared, { heads: `H${mates[0][axis]}–H${mates.at(-1)[axis]}` })}`
}

function describeCell(state, [row, column]) {
  const { texts, number, whole } = state.meta
  const exact = state.values[row * state.columns + column]
  const value = formatNumber(exact, number, texts)
  const share = formatNumber(exact / (whole || NaN), "percent", texts)
  const [label, across] = [state.rowLabels[row], state.columnLabels[column]]
  const words = Number.isFinite(exact) ? texts.cell : texts.missing
  return fill(words, { row: label, column: across, value, share, row_index: row, column_index: column })
}

// The colours with the numbers at their ends; ≤ and ≥ where values lie beyond.
function drawBar({ bar, meta, theme }) {
  const stops = theme[meta.scale === "signed" ? "diverging" : "sequential"]
  const colors = element("i")
  colors.style.background = `linear-gradient(to right, ${stops.map(([t, ...color]) => `${css(color)} ${100 * t}%`).join(", ")})`
  const end = (value, mark, at) => `${meta.clipped[at] ? mark : ""}${formatNumber(value, meta.number, meta.texts)}`
  bar.replaceChildren(end(meta.low, "≤ ", 0), colors, end(meta.high, "≥ ", 1))
}

function listen(state) {
  const { canvas, scroller } = state
  const under = (event) => {
    const box = canvas.getBoundingClientRect()
    return hit(state, event.clientX - box.left + scroller.scrollLeft, event.clientY - box.top + scroller.scrollTop)
  }
  const hover = (found) => {
    if (String(found) === String(state.hovered)) return
    state.hovered = found
    canvas.style.cursor = found ? "pointer" : "default"
    if (found) state.announce(describe(state, found))
    refresh(state)
  }
  canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && hover(under(event)))
  canvas.addEventListener("pointerleave", () => hover(null))
  canvas.addEventListener("click", (event) => {
    const found = under(event)
    if (found) select(state, found, 0)
  })
  canvas.addEventListener("keydown", (event) => onKey(state, event))
  scroller.addEventListener("scroll", () => refresh(state), { passive: true })
}

function onKey(state, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
  if (event.key === "Enter" && state.open) select(state, state.open, 0)
  else if (event.key === "Escape") {
    state.hovered = null
    refresh(state)
  } else if (step) {
    const next = neighbour(state, step)
    if (next) select(state, next, 150) // a held key asks the host once, when it rests
  } else return
  event.preventDefault()
}

// The next cell in this direction that can be opened; null at the edge.
function neighbour(state, [down, right]) {
  const { rows, columns, meta } = state
  let [row, column] = state.open ?? [down > 0 ? -1 : 0, right > 0 ? -1 : 0]
  for (;;) {
    ;[row, column] = [row + down, column + right]
    if (row < 0 || column < 0 || row >= rows || column >= columns) return null
    if (!(row in meta.notes)) return [row, column]
  }
}

// Draw the choice at once and tell the host after `wait` milliseconds.
function select(state, cell, wait) {
  state.open = cell
  state.hovered = null
  chosen(state, "open", cell)
  clearTimeout(state.telling)
  if (wait) state.telling = setTimeout(() => state.tell(cell), wait)
  else state.tell(cell)
  keepInSight(state, cell)
  state.announce(describe(state, cell))
  refresh(state)
}

function keepInSight(state, cell) {
  state.kept = String(cell)
  const { scroller, layout } = state
  const [x, y] = cornerOf(state, ...cell)
  const [left, top] = [x - layout.left, y - layout.top]
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (y + layout.pitchY > scroller.scrollTop + state.viewHeight) scroller.scrollTop = y + layout.pitchY - state.viewHeight
  if (left < scroller.scrollLeft) scroller.scrollLeft = left
  else if (x + layout.pitchX > scroller.scrollLeft + state.viewWidth) scroller.scrollLeft = x + layout.pitchX - state.viewWidth
}
