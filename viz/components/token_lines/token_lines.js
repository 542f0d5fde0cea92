const SEND_AFTER = 150 // milliseconds without another arrow key before the query is sent
const TRUST_CLICK = 1500 // milliseconds during which a rerun of an older click may not move the pin back

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".token-lines")
  const state = stateOf(root, create)
  state.setTriggerValue = setTriggerValue
  const { meta, arrays } = unpack(data)
  const sameRows = state.meta && meta.query_offset === state.meta.query_offset && meta.queries.length === state.meta.queries.length
  const older = sameRows && performance.now() < state.trustUntil && meta.selected !== state.pinned
  if (!sameRows || meta.keys.length !== state.meta.keys.length) state.hover = state.held = null
  Object.assign(state, { meta, weights: arrays.weights })
  clearTimeout(state.settling)
  if (older) state.settling = setTimeout(() => settle(root, state), TRUST_CLICK)
  else settle(root, state, { redraw: false })
  draw(root, state)
  return state.dispose
}

function settle(root, state, { redraw = true } = {}) {
  state.trustUntil = 0
  if (state.pinned !== state.meta.selected) state.reveal = true
  state.pinned = state.meta.selected
  if (redraw) paintActive(root, state)
}

// `hover` and `held` are {side: "query" | "key", row}: under the pointer or keyboard, and tapped on a key (a touch
// screen has no hover). `pinned` is a position, as the server knows it.
function create(root) {
  const titles = element("div", { className: "titles", "aria-hidden": "true" })
  const scroller = element("div", { className: "scroller", tabIndex: 0, role: "img" })
  const legend = element("div", { className: "legend" })
  const spoken = element("div", { className: "spoken", "aria-live": "polite" })
  root.append(titles, scroller, legend, spoken)
  const state = { titles, scroller, legend, meta: null, pinned: null, hover: null, held: null, reveal: true, trustUntil: 0 }
  state.announce = announcer(spoken)
  scroller.addEventListener("pointerover", (event) => onPointer(root, state, event))
  scroller.addEventListener("pointerleave", () => setHover(root, state, null))
  scroller.addEventListener("click", (event) => onClick(root, state, event))
  scroller.addEventListener("keydown", (event) => onKey(root, state, event))
  scroller.addEventListener("blur", () => setHover(root, state, null))
  const stop = watchLayout(root, () => draw(root, state))
  state.dispose = () => {
    stop()
    state.announce.stop()
    clearTimeout(state.timer)
    clearTimeout(state.settling)
    root.replaceChildren()
    root.atlas = undefined
  }
  return state
}

// ---- the active row -------------------------------------------------------------------------------------------------

// What is looked into now: the hovered row, else a tapped key, else the pinned query; null for the whole picture.
function activeRow({ hover, held, pinned, meta }) {
  if (hover ?? held) return hover ?? held
  const row = pinned === null ? -1 : pinned - meta.query_offset
  return row >= 0 && row < meta.queries.length ? { side: "query", row } : null
}

const weightAt = ({ weights }, head, query, key) => weights[(head * weights.shape[1] + query) * weights.shape[2] + key]

function paintActive(root, state) {
  const { meta, at } = state
  const active = activeRow(state)
  state.all.classList.toggle("dimmed", active !== null)
  const byQuery = active?.side === "query"
  const wanted = byQuery ? (query) => query === active.row : (_, key) => key === active.row
  state.active.replaceChildren(...(active ? curves(state, wanted, 0.25) : []))
  for (const node of state.scroller.querySelectorAll(".row")) paintRow(state, node, active)
  if (state.reveal && active) reveal(state, active.row * at.row)
  state.reveal = false
  const shown = active && `${active.side} ${active.row + (byQuery ? meta.query_offset : meta.key_offset)}`
  root.dataset.active = shown ?? ""
  root.dataset.pinned = state.pinned === null ? "" : String(state.pinned)
  root.dataset.lines = String(active ? state.active.childElementCount : state.all.childElementCount)
  if (active && state.hover) state.announce(sentence(state, active))
  markPainted(root)
}

function paintRow(state, node, active) {
  const { meta, at, theme } = state
  const { side } = node.dataset
  const row = Number(node.dataset.row)
  const own = active?.side === side && active.row === row
  const other = active !== null && active.side !== side
  const weights = other ? meta.head_labels.map((_, head) => weightOf(state, head, side, row, active.row)) : []
  const most = Math.max(0, ...weights.filter(Number.isFinite))
  const tint = node.querySelector(".tint")
  const color = theme[own ? side : side === "query" ? "query" : "key"]
  tint.setAttribute("fill", own ? css(color, 0.14) : most > 0 ? css(color, 0.3 * most) : "none")
  node.classList.toggle("active", own)
  node.classList.toggle("faded", other && !(most >= meta.threshold))
  node.classList.toggle("pinned", side === "query" && Number(node.dataset.position) === state.pinned)
  for (const amount of node.querySelectorAll(".amount")) amount.remove()
  node.querySelector(".place").toggleAttribute("hidden", side === "key" && at.compact && Number.isFinite(weights[0]))
  if (side === "key" && other) node.append(...weights.map((weight, head) => amountNode(state, row, weight, head)))
}

const weightOf = (state, head, side, row, activeRow) =>
  side === "key" ? weightAt(state, head, activeRow, row) : weightAt(state, head, row, activeRow)

function amountNode({ at, meta, colors }, row, weight, head) {
  const x = at.width - at.column * (meta.head_labels.length - head - 1) - 2
  const node = svg("text", { class: "amount", x, y: middle(at, row) + 4.5, "text-anchor": "end" })
  node.style.fill = css(colors[head])
  node.textContent = Number.isFinite(weight) ? shortPercent(weight, at.compact, meta.texts) : ""
  return node
}

// A percentage that fits its column: what is smaller than its last digit is said to be smaller.
function shortPercent(weight, compact, texts) {
  const least = compact ? 0.01 : 0.001
  if (weight > 0 && weight < least / 2) return fill(texts.percent, { number: `< ${100 * least}` })
  return compact ? fill(texts.percent, { number: Math.round(100 * weight) }) : formatNumber(weight, "percent", texts)
}

// In words: where the first head looks most from the active query, or who looks most at the active key.
function sentence(state, { side, row }) {
  const { queries, keys, texts } = state.meta
  const others = side === "query" ? keys : queries
  const weight = (other) => (side === "query" ? weightAt(state, 0, row, other) : weightAt(state, 0, other, row))
  const rank = (other) => (Number.isFinite(weight(other)) ? weight(other) : -1)
  const other = others.reduce((best, _, i) => (rank(i) > rank(best) ? i : best), 0)
  const [query, key] = side === "query" ? [row, other] : [other, row]
  const values = { query: isolate(queries[query]), key: isolate(keys[key]), value: formatNumber(weight(other), "percent", texts) }
  return fill(side === "key" ? texts.looked_at : texts.line, values)
}

function reveal({ scroller, at }, top) {
  if (top < scroller.scrollTop) scroller.scrollTop = top - 2 * at.row
  else if (top + at.row > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + 3 * at.row - scroller.clientHeight
}

// ---- pointer and keys -----------------------------------------------------------------------------------------------

function setHover(root, state, row) {
  if (row?.side === state.hover?.side && row?.row === state.hover?.row) return
  state.hover = row
  paintActive(root, state)
}

const rowOf = (event) => {
  const node = event.target.closest?.(".row")
  return node ? { side: node.dataset.side, row: Number(node.dataset.row) } : null
}

function onPointer(root, state, event) {
  if (event.pointerType !== "touch") setHover(root, state, rowOf(event)) // a finger taps: see onClick
}

function onClick(root, state, event) {
  const row = rowOf(event)
  if (row?.side === "query") return pin(root, state, row.row + state.meta.query_offset)
  state.held = row && !(state.held?.row === row.row) ? row : null
  paintActive(root, state)
}

// A second pin of the same query releases it.
function pin(root, state, position, { toggle = true, delay = 0 } = {}) {
  state.held = null
  state.pinned = toggle && position === state.pinned ? null : position
  state.trustUntil = performance.now() + TRUST_CLICK
  clearTimeout(state.settling)
  clearTimeout(state.timer)
  const send = () => state.setTriggerValue("query", state.pinned)
  if (delay) state.timer = setTimeout(send, delay)
  else send()
  paintActive(root, state)
}

function onKey(root, state, event) {
  const { meta, at } = state
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const here = activeRow(state) ?? { side: "query", row: -1 }
  const last = (side) => (side === "query" ? meta.queries : meta.keys).length - 1
  const to = (side, row) => ({ side, row: clamp(row, 0, last(side)) })
  const moves = {
    ArrowUp: () => to(here.side, here.row - 1),
    ArrowDown: () => to(here.side, here.row + 1),
    ArrowLeft: () => to("query", here.row),
    ArrowRight: () => to("key", here.row),
    Home: () => to(here.side, 0),
    End: () => to(here.side, last(here.side)),
  }
  if (event.key in moves) {
    state.hover = moves[event.key]()
    state.held = null
    state.reveal = true
    if (state.hover.side === "query" && event.key !== "ArrowLeft") pin(root, state, state.hover.row + meta.query_offset, { toggle: false, delay: SEND_AFTER })
    else paintActive(root, state)
  } else if (event.key === "Enter" || event.key === " ") {
    if (here.side === "query" && here.row >= 0) pin(root, state, here.row + meta.query_offset, { toggle: false })
  } else if (event.key === "Escape") {
    state.hover = null
    pin(root, state, null, { toggle: false })
  } else return
  event.preventDefault()
}
