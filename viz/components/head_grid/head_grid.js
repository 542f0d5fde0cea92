export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-grid")
  const state = stateOf(root, createGrid)
  state.tell = (head) => setTriggerValue("head", head)
  receive(state, data)
  arrange(state)
  return state.dispose
}

function createGrid(root) {
  const canvas = element("canvas", { tabIndex: 0, role: "img" })
  const sheet = element("div", { className: "sheet" }, canvas)
  const scroller = element("div", { className: "scroller" }, sheet)
  const caption = element("div", { className: "caption" })
  const live = element("div", { className: "live", "aria-live": "polite" })
  root.replaceChildren(scroller, caption, live)
  const state = { root, canvas, sheet, scroller, caption, still: document.createElement("canvas"), hovered: null, version: 0 }
  state.announce = announcer(live)
  const stop = watchLayout(root, () => {
    state.theme = readTheme(root, state.meta.palette)
    arrange(state)
  })
  state.dispose = () => {
    stop()
    state.announce.stop()
    clearTimeout(state.telling)
    delete root.atlas
  }
  listen(state)
  return state
}

function receive(state, data) {
  const { meta, arrays } = unpack(data)
  const [layers, heads, n] = arrays.thumbnails.shape
  Object.assign(state, { meta, layers, heads, n, order: null, ...arrays })
  state.theme = readTheme(state.root, meta.palette)
  state.selected = reconcile(state, "selected", meta.selected)
  state.compared = meta.compare
  state.hovered = null
  state.canvas.setAttribute("aria-label", meta.texts.summary ?? "")
}

// Lay the sheet out for the width there is, and paint it.
function arrange(state) {
  const { root, meta, theme } = state
  const width = root.clientWidth
  if (!width) return // not shown yet: the observer calls again
  const context = state.still.getContext("2d")
  const measure = (text) => {
    context.font = `11px ${theme.font}`
    return context.measureText(text).width
  }
  state.layout = layOut(state, width, meta.max_height, measure)
  const overflows = state.layout.height > meta.max_height + 0.5
  if (overflows) state.layout = layOut(state, width - 12, meta.max_height, measure) // room for the scroll bar
  state.viewWidth = width - (overflows ? 12 : 0)
  state.viewHeight = Math.min(state.layout.height, meta.max_height)
  state.scroller.style.height = `${Math.ceil(state.viewHeight)}px`
  state.scroller.style.overflowX = state.layout.width > width ? "auto" : "hidden"
  state.scroller.style.overflowY = overflows ? "auto" : "hidden"
  Object.assign(state.sheet.style, { width: `${state.layout.width}px`, height: `${state.layout.height}px` })
  state.colors = ramp(theme.sequential)
  state.masked = ramp([[0, ...theme.masked], [1, ...theme.masked]])[0]
  state.version++
  if (state.kept !== String(state.selected)) keepInSight(state, state.selected)
  refresh(state)
}

function refresh(state) {
  paint(state)
  const shown = state.hovered ?? state.selected
  state.caption.textContent = describe(state, shown)
  const { dataset } = state.root
  dataset.selected = state.selected.join()
  dataset.hovered = state.hovered ? state.hovered.join() : ""
  const { left, top, pitch, rowHeight, columns, groupGap } = state.layout
  dataset.geometry = JSON.stringify({ left, top, pitch, rowHeight, columns, groupGap })
}

function describe(state, [layer, head]) {
  const { texts, number } = state.meta
  const value = formatNumber(state.metric[layer * state.heads + head], number, texts)
  const words = fill(texts.head, { head: `L${layer}H${head}`, metric: texts.metric ?? "", value, layer_index: layer, head_index: head })
  const mates = matesOf(state)
  if (!texts.shared || !mates.some((mate) => String(mate) === String([layer, head]))) return words
  return `${words} · ${fill(texts.shared, { heads: `H${mates[0][1]}–H${mates.at(-1)[1]}` })}`
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
  if (event.key === "Enter") select(state, state.selected, 0)
  else if (event.key === "Escape") {
    state.hovered = null
    refresh(state)
  } else {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
    if (!step) return
    const next = neighbour(state, step)
    if (next) select(state, next, 150) // a held key asks the host once, when it rests
  }
  event.preventDefault()
}

// The next head in this direction that has weights; null at the edge.
function neighbour(state, [down, right]) {
  const slot = slotOf(state, state.selected) ?? [0, -right]
  for (let [row, column] = [slot[0] + down, slot[1] + right]; ; row += down, column += right) {
    if (row < 0 || column < 0 || row >= state.layout.rows || column >= state.layout.columns) return null
    const found = headAt(state, row, column)
    if (found && state.meta.layer_has_weights[found[0]]) return found
  }
}

// Draw the choice at once and tell the host after `wait` milliseconds.
function select(state, head, wait) {
  state.selected = head
  state.hovered = null
  chosen(state, "selected", head)
  clearTimeout(state.telling)
  if (wait) state.telling = setTimeout(() => state.tell(head), wait)
  else state.tell(head)
  keepInSight(state, head)
  state.announce(describe(state, head))
  refresh(state)
}

function keepInSight(state, head) {
  state.kept = String(head)
  const slot = slotOf(state, head)
  if (!slot) return
  const { scroller, layout } = state
  const { x, y, size } = squareOf(state, ...slot)
  const [top, left] = [y - (layout.rowHeight - layout.pitch) - layout.top, x - layout.left]
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (y + size > scroller.scrollTop + state.viewHeight) scroller.scrollTop = y + size - state.viewHeight
  if (left < scroller.scrollLeft) scroller.scrollLeft = left
  else if (x + size > scroller.scrollLeft + state.viewWidth) scroller.scrollLeft = x + size - state.viewWidth
}
