const SEND_AFTER = 300 // milliseconds without another movement before the positions are sent
const CELLS = 64 // positions of the map on each side
const MOST_POINTS = 257 // positions at which the flat line is computed
const NARROW_VIEW = 760

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".score-shift")
  const state = stateOf(root, create)
  state.tell = setTriggerValue
  receive(state, data)
  draw(state)
  return state.dispose
}

function create(root) {
  const range = (name) => element("input", { type: "range", className: `slider ${name}`, min: 0, step: 1 })
  const number = () => element("input", { type: "number", className: "number", min: 0, step: 1 })
  const state = {
    root, asking: 0, frame: 0, dragging: false, m: 0, n: 0, span: 0,
    sliders: { m: range("query"), n: range("key") },
    numbers: { m: number(), n: number() },
    names: { m: element("label", { className: "query" }), n: element("label", { className: "key" }) },
    lock: element("input", { type: "checkbox" }),
    lockWords: element("span"),
    spans: element("div", { className: "spans", role: "group" }),
    back: element("button", { type: "button", className: "back" }),
    readout: element("div", { className: "readout" }),
    map: element("canvas", { role: "img" }),
    charts: element("canvas", { role: "img" }),
    notes: element("div", { className: "notes" }),
    live: element("div", { className: "spoken", "aria-live": "polite" }),
    tile: document.createElement("canvas"),
  }
  state.announce = announcer(state.live)
  const row = (name) => element("div", { className: "line" }, state.names[name], state.sliders[name], state.numbers[name])
  const lock = element("label", { className: "lock" }, state.lock, state.lockWords)
  const controls = element("div", { className: "controls" }, element("div", { className: "lines" }, row("m"), row("n")), element("div", { className: "beside" }, lock, element("div", { className: "ranges" }, state.spans, state.back)))
  const figure = element("div", { className: "figure" }, state.map, state.charts)
  root.replaceChildren(controls, state.readout, figure, state.notes, state.live)
  state.lock.checked = true
  listen(state)
  keepDrawn(state, () => draw(state))
  return state
}

function receive(state, data) {
  const { meta, arrays } = unpack(data)
  Object.assign(state, { meta, arrays })
  state.ends = [...new Set([Math.min(meta.near, meta.context), meta.context])].map((count) => count - 1)
  const places = reconcile(state, "positions", meta.positions)
  if (!state.dragging) [state.m, state.n] = places
  state.span = Math.max(state.span, state.ends.findIndex((end) => Math.max(state.m, state.n) <= end))
  state.span = clamp(state.span, 0, state.ends.length - 1)
  state.curveKey = state.flatKey = null
  const { texts } = meta
  setText(state.names.m, fill(texts.query, { token: isolate(meta.tokens[0]) }))
  setText(state.names.n, fill(texts.key, { token: isolate(meta.tokens[1]) }))
  setText(state.lockWords, texts.lock ?? "")
  setText(state.back, fill(texts.back, { m: meta.own[0], n: meta.own[1] }))
  state.spans.setAttribute("aria-label", texts.range ?? "")
  state.spans.replaceChildren(...state.ends.map((end, i) => element("button", { type: "button", "data-span": i, textContent: `0 – ${grouped(end)}` })))
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

// ---- the score ------------------------------------------------------------------------------------------------------

// Pairs [x, y, x, y, …] turned to a position, as the model turns them.
function turned(pairs, theta, position) {
  const out = new Float64Array(pairs.length)
  for (let i = 0; i < theta.length; i++) {
    const [c, s] = [Math.cos(position * theta[i]), Math.sin(position * theta[i])]
    const [x, y] = [pairs[2 * i], pairs[2 * i + 1]]
    out[2 * i] = x * c - y * s
    out[2 * i + 1] = x * s + y * c
  }
  return out
}

function scoreOf({ meta }, q, k) {
  let sum = 0
  for (let i = 0; i < q.length; i++) sum += q[i] * k[i]
  const total = meta.scale * sum + meta.rest
  return meta.softcap === null ? total : meta.softcap * Math.tanh(total / meta.softcap)
}

// The score with the query's content at m and the key's at n: both vectors are turned, then multiplied.
const scoreAt = (state, m, n) => scoreOf(state, turned(state.arrays.q, state.arrays.theta, m), turned(state.arrays.k, state.arrays.theta, n))

// Every cell of the window, from the 64 turned queries and the 64 turned keys.
function windowScores(state, m0, n0) {
  const { q, k, theta } = state.arrays
  const places = Array.from({ length: CELLS }, (_, i) => i)
  const [rows, columns] = [places.map((i) => turned(q, theta, m0 + i)), places.map((i) => turned(k, theta, n0 + i))]
  return rows.map((row) => columns.map((column) => scoreOf(state, row, column)))
}

// Score against difference, the key staying at the place it has, or far enough from 0 to have room on both sides.
function byDifference(state) {
  const reach = Math.max(CELLS - 1, Math.abs(state.m - state.n))
  const key = `${reach}`
  if (state.curveKey !== key) {
    const k = turned(state.arrays.k, state.arrays.theta, reach)
    const differences = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach)
    state.byDifference = differences.map((d) => [d, scoreOf(state, turned(state.arrays.q, state.arrays.theta, reach + d), k)])
    Object.assign(state, { curveKey: key, reach })
  }
  return state.byDifference
}

// The score while both move with the difference locked, over the whole slider.
function alongDiagonal(state) {
  const difference = state.m - state.n
  const end = state.ends[state.span]
  const key = `${difference},${end}`
  if (state.flatKey !== key) {
    const [first, last] = [Math.max(0, difference), Math.min(end, end + difference)]
    const count = Math.min(MOST_POINTS, last - first + 1)
    const places = Array.from({ length: count }, (_, i) => Math.round(first + ((last - first) * i) / Math.max(1, count - 1)))
    state.flat = places.map((m) => [m, scoreAt(state, m, m - difference)])
    const [low, high] = extent(state.flat.map(([, score]) => score))
    Object.assign(state, { flatKey: key, spread: high - low })
  }
  return state.flat
}

// ---- drawing --------------------------------------------------------------------------------------------------------

function draw(state) {
  const { root, meta } = state
  state.width = root.clientWidth
  if (!state.width) return // not shown yet: the observer calls again
  state.theme = readTheme(root, meta.palette)
  root.classList.toggle("narrow", state.width < NARROW_VIEW)
  render(state)
}

// What a moving slider changes: no style is read or written here.
function render(state) {
  const { root, meta, width } = state
  const narrow = width < NARROW_VIEW
  for (const name of ["m", "n"]) {
    state.sliders[name].max = state.numbers[name].max = state.ends[state.span]
    state.sliders[name].value = state[name]
    state.sliders[name].setAttribute("aria-label", state.names[name].textContent)
    state.numbers[name].setAttribute("aria-label", state.names[name].textContent)
    if (root.getRootNode().activeElement !== state.numbers[name]) state.numbers[name].value = state[name]
  }
  for (const button of state.spans.children) button.setAttribute("aria-pressed", String(Number(button.dataset.span) === state.span))
  state.back.disabled = state.m === meta.own[0] && state.n === meta.own[1]
  state.score = scoreAt(state, state.m, state.n)
  const side = narrow ? Math.min(width, 442) : clamp(Math.round(width * 0.42), 320, 442)
  paintShiftMap(state, side)
  paintShiftCharts(state, narrow ? width : width - side - 28, narrow ? 330 : side)
  writeWords(state)
  Object.assign(root.dataset, { m: state.m, n: state.n, score: state.score, spread: state.spread })
  markPainted(root)
}

function writeWords(state) {
  const { meta, m, n, score, spread, readout, notes, map, charts } = state
  const { texts } = meta
  const values = { m, n, difference: tidy(String(m - n)), score: signedScore(score) }
  const words = fill(texts.score, values)
  setText(readout, words)
  const parts = [fill(texts.flat, { spread: spread ? tidy(spread.toExponential(0)) : "0" }), fill(texts.deviation, { deviation: meta.deviation })]
  if (m < n && meta.causal) parts.push(texts.later ?? "")
  setText(notes, parts.filter(Boolean).join(" "))
  map.setAttribute("aria-label", `${fill(texts.map, { head: meta.head })} ${words}`)
  charts.setAttribute("aria-label", `${texts.together ?? ""}; ${texts.apart ?? ""}. ${words}`)
  if (state.said !== words) state.announce(words)
  state.said = words
}

const signedScore = (score) => tidy(score.toFixed(4))

// ---- what the reader does -------------------------------------------------------------------------------------------

function later(state) {
  cancelAnimationFrame(state.frame)
  state.frame = requestAnimationFrame(() => state.width && render(state))
}

// With the lock the other follows, and both stop where one reaches an end.
function moveTo(state, name, place) {
  const end = state.ends[state.span]
  const other = name === "m" ? "n" : "m"
  let step = clamp(Math.round(place), 0, end) - state[name]
  if (state.lock.checked) {
    step = clamp(step, -state[other], end - state[other])
    state[other] += step
  }
  state[name] += step
  later(state)
  if (!state.dragging) settle(state)
}

// Sent when the reader rests: nothing goes to the server while a slider moves.
function settle(state) {
  chosen(state, "positions", [state.m, state.n])
  clearTimeout(state.asking)
  state.asking = setTimeout(() => !state.dragging && state.tell("positions", [state.m, state.n]), SEND_AFTER)
}

function listen(state) {
  for (const name of ["m", "n"]) {
    const [slider, number] = [state.sliders[name], state.numbers[name]]
    const released = () => {
      state.dragging = false
      settle(state)
    }
    slider.addEventListener("pointerdown", () => (state.dragging = true))
    slider.addEventListener("input", () => moveTo(state, name, Number(slider.value)))
    for (const event of ["change", "pointerup", "pointercancel"]) slider.addEventListener(event, released)
    number.addEventListener("input", () => Number.isFinite(number.valueAsNumber) && moveTo(state, name, number.valueAsNumber))
    number.addEventListener("change", () => (number.value = state[name]))
  }
  state.spans.addEventListener("click", (event) => {
    const button = event.target.closest("[data-span]")
    if (!button) return
    state.span = Number(button.dataset.span)
    const over = Math.max(state.m, state.n) - state.ends[state.span]
    if (over > 0) [state.m, state.n] = [Math.max(0, state.m - over), Math.max(0, state.n - over)]
    later(state)
    settle(state)
  })
  state.back.addEventListener("click", () => {
    ;[state.m, state.n] = state.meta.own
    later(state)
    settle(state)
  })
  state.map.addEventListener("pointerdown", (event) => onMap(state, event))
  state.map.addEventListener("pointermove", (event) => event.buttons & 1 && onMap(state, event))
}

// A click on the map puts both where it is pointed, whatever the lock says.
function onMap(state, event) {
  const { at, window: [m0, n0] } = state
  const box = state.map.getBoundingClientRect()
  const cell = (place) => clamp(Math.floor(place / at.cell), 0, CELLS - 1)
  const end = state.ends[state.span]
  state.m = Math.min(end, m0 + cell(event.clientY - box.top - at.top))
  state.n = Math.min(end, n0 + cell(event.clientX - box.left - at.left))
  later(state)
  settle(state)
}
