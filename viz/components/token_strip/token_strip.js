const DRAWN_CHIPS = 1500 // a longer text is drawn as a window of this many chips, with a button at each cut end
const SEND_AFTER = 150 // milliseconds without another arrow key before the position is sent
const TRUST_CLICK = 1500 // milliseconds during which a rerun of an older click may not move the selection back

const DEEPEST_TINT = 0.45 // a chip is a label first: a stronger tint would shout

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".token-strip")
  const state = stateOf(root, create)
  state.setTriggerValue = setTriggerValue
  const { meta, arrays } = unpack(data)
  const older = performance.now() < state.trustUntil && meta.selected !== state.selected && sameText(meta, state.meta)
  Object.assign(state, { meta, arrays })
  clearTimeout(state.settling)
  if (older) state.settling = setTimeout(() => settle(root, state), TRUST_CLICK)
  else settle(root, state, { redraw: false })
  draw(root, state)
  return state.dispose
}

// Take over what the server says is selected.
function settle(root, state, { redraw = true } = {}) {
  state.trustUntil = 0
  if (state.selected !== state.meta.selected) state.reveal = state.follow = true
  state.selected = state.meta.selected
  if (redraw) draw(root, state)
}

function create(root) {
  const box = element("div", { className: "chips", role: "listbox", "aria-orientation": "horizontal" })
  root.append(box)
  const state = {
    box,
    meta: null,
    selected: null,
    focused: null, // the chip that the keyboard is on
    start: 0, // the first chip of the drawn window
    follow: true, // keep the selected chip inside the window; off once the reader turned the window
    reveal: true, // scroll to the selected chip at the next drawing
    drawnText: null,
    trustUntil: 0,
    timer: 0,
    settling: 0,
  }
  box.addEventListener("click", (event) => onClick(root, state, event))
  box.addEventListener("keydown", (event) => onKey(root, state, event))
  const stop = watchLayout(root, () => draw(root, state))
  state.dispose = () => {
    stop()
    clearTimeout(state.timer)
    clearTimeout(state.settling)
    root.atlas = undefined
    box.remove()
  }
  return state
}

const sameText = (a, b) => a.labels.length === b.labels.length && a.labels.every((label, i) => label === b.labels[i])

// The chip that holds a token position; -1 for none. Positions ascend, so a binary search does.
function chipAt({ arrays: { positions, counts } }, position) {
  if (position === null || position === undefined) return -1
  let [low, high] = [0, positions.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (position < positions[middle]) high = middle - 1
    else if (position >= positions[middle] + counts[middle]) low = middle + 1
    else return middle
  }
  return -1
}

const lastToken = ({ arrays }, chip) => arrays.positions[chip] + arrays.counts[chip] - 1

// ---- drawing --------------------------------------------------------------------------------------------------------

// Chips are made anew only when the text or the window changed; a new selection or metric only restyles them.
function draw(root, state) {
  const theme = readTheme(root, state.meta.palette)
  const { meta, arrays, box } = state
  const n = meta.labels.length
  const chosen = chipAt(state, state.selected)
  if (n <= DRAWN_CHIPS) state.start = 0
  else if (state.follow && chosen >= 0 && !inWindow(state, chosen)) state.start = chosen - (DRAWN_CHIPS >> 1)
  state.start = clamp(state.start, 0, Math.max(0, n - DRAWN_CHIPS))
  const text = JSON.stringify([state.start, meta.labels, meta.parts, [...arrays.positions], [...arrays.special], meta.texts])
  if (text !== state.drawnText) {
    const refocus = state.box.contains(root.getRootNode().activeElement)
    build(state)
    Object.assign(state, { drawnText: text, reveal: true })
    if (refocus) focusChip(state, inWindow(state, chosen) ? chosen : state.start)
  }
  const looked = chipAt(state, meta.looked_at)
  const current = state.focused ?? (inWindow(state, chosen) ? chosen : state.start)
  for (const [chip, node] of chipNodes(state)) style(state, theme, node, chip, { chosen, looked, current })
  box.setAttribute("aria-label", meta.texts.label ?? "")
  root.dataset.chips = String(n)
  root.dataset.selected = state.selected === null ? "" : String(state.selected)
  root.dataset.lookedAt = meta.looked_at === null ? "" : String(meta.looked_at)
  if (state.reveal) reveal(state, chosen)
  state.reveal = false
  markPainted(root)
}

const inWindow = (state, chip) => chip >= state.start && chip < state.start + DRAWN_CHIPS

function build(state) {
  const n = state.meta.labels.length
  const end = Math.min(n, state.start + DRAWN_CHIPS)
  const nodes = []
  if (state.start > 0) nodes.push(moreButton(state, "earlier", state.start))
  for (let chip = state.start; chip < end; chip++) nodes.push(chipNode(state, chip))
  if (end < n) nodes.push(moreButton(state, "later", n - end))
  state.box.replaceChildren(...nodes)
  state.focused = null
}

function moreButton({ meta }, side, count) {
  return element("button", { className: "more", type: "button", "data-side": side, textContent: fill(meta.texts[side], { count }) })
}

function chipNode(state, chip) {
  const { meta, arrays } = state
  const [label, position, count] = [meta.labels[chip], arrays.positions[chip], arrays.counts[chip]]
  const place = count > 1 ? `${position}–${position + count - 1}` : `${position}`
  const node = element(
    "button",
    { className: "chip", type: "button", role: "option", "data-chip": chip, "data-position": position },
    element("span", { className: "label", textContent: label }),
    element("span", { className: "place", textContent: place }),
  )
  if (count > 1) node.append(element("span", { className: "count", "aria-hidden": "true", textContent: String(count) }))
  node.classList.toggle("special", Boolean(arrays.special[chip]))
  return node
}

function* chipNodes(state) {
  for (const node of state.box.children) if (node.dataset.chip !== undefined) yield [Number(node.dataset.chip), node]
}

function style(state, theme, node, chip, { chosen, looked, current }) {
  const value = state.arrays.metric[chip]
  const tinted = Number.isFinite(value)
  const color = tinted ? rampColor(theme.sequential, DEEPEST_TINT * clamp(value, 0, 1)) : null
  node.style.setProperty("--tint", tinted ? css(color) : "")
  node.style.setProperty("--ink", tinted ? css(inkOn(color)) : "")
  node.classList.toggle("tinted", tinted)
  node.classList.toggle("selected", chip === chosen)
  node.classList.toggle("looked-at", chip === looked)
  node.setAttribute("aria-selected", String(chip === chosen))
  node.tabIndex = chip === current ? 0 : -1
  const words = describe(state, chip)
  if (node.title !== words) {
    node.title = words
    node.setAttribute("aria-label", words)
  }
}

function describe({ meta, arrays }, chip) {
  const { texts } = meta
  const lines = [fill(texts.chip, { label: isolate(meta.labels[chip]), position: arrays.positions[chip] })]
  if (arrays.counts[chip] > 1) {
    const parts = meta.parts[chip].map(isolate).join(" ")
    lines.push(fill(texts.parts, { count: arrays.counts[chip], parts }))
  }
  const words = lines.join("\n")
  return meta.values[chip] ? fill(texts.value, { label: words, value: meta.values[chip] }) : words
}

// Bring a chip's line to the middle if it is not seen whole. scrollIntoView would move the whole page.
function reveal({ box }, chip) {
  const node = box.querySelector(`[data-chip="${chip}"]`)
  if (!node) return
  const frame = box.getBoundingClientRect()
  const { top, bottom } = node.getBoundingClientRect()
  const hidden = top < frame.top || bottom > frame.bottom
  if (hidden) box.scrollTop += (top + bottom) / 2 - (frame.top + frame.bottom) / 2
}

// ---- choosing -------------------------------------------------------------------------------------------------------

function choose(root, state, position, { delay = 0 } = {}) {
  Object.assign(state, { selected: position, trustUntil: performance.now() + TRUST_CLICK, follow: true, reveal: true })
  clearTimeout(state.settling)
  draw(root, state)
  clearTimeout(state.timer)
  const send = () => state.setTriggerValue("token", position)
  if (delay) state.timer = setTimeout(send, delay)
  else send()
}

function onClick(root, state, event) {
  const node = event.target.closest("button")
  if (!node) return
  if (node.dataset.side) {
    const earlier = node.dataset.side === "earlier"
    state.start += (earlier ? -1 : 1) * (DRAWN_CHIPS >> 1)
    Object.assign(state, { follow: false, focused: null })
    draw(root, state)
    state.box.scrollTop = state.box.scrollHeight / 2 // the reader goes on where the last window ended
  } else {
    const chip = Number(node.dataset.chip)
    choose(root, state, lastToken(state, chip))
    focusChip(state, chip)
  }
}

function focusChip(state, chip) {
  for (const [other, node] of chipNodes(state)) node.tabIndex = other === chip ? 0 : -1
  state.focused = chip
  state.box.querySelector(`[data-chip="${chip}"]`)?.focus({ preventScroll: true })
}

function onKey(root, state, event) {
  const chip = Number(event.target.dataset?.chip)
  if (event.key === "Escape") {
    event.preventDefault()
    choose(root, state, null)
    return
  }
  if (!Number.isInteger(chip) || event.ctrlKey || event.metaKey || event.altKey) return
  const target = step(state, chip, event.key)
  if (target === null) return
  event.preventDefault() // Enter and Space too: the button's own click would send the position a second time
  const keys = event.key === "Enter" || event.key === " "
  choose(root, state, lastToken(state, target), { delay: keys ? 0 : SEND_AFTER })
  focusChip(state, target)
}

function step(state, chip, key) {
  const last = state.meta.labels.length - 1
  const moves = { ArrowLeft: chip - 1, ArrowRight: chip + 1, Home: 0, End: last, Enter: chip, " ": chip }
  if (key in moves) return clamp(moves[key], 0, last)
  if (key === "ArrowUp" || key === "ArrowDown") return chipOnNextLine(state, chip, key === "ArrowDown")
  return null
}

// The chip on the neighbouring line whose middle is nearest; the chip itself on the first and the last line.
function chipOnNextLine(state, chip, down) {
  const boxes = [...chipNodes(state)].map(([index, node]) => ({ index, top: node.offsetTop, x: node.offsetLeft + node.offsetWidth / 2 }))
  const here = boxes.find(({ index }) => index === chip)
  const beyond = boxes.filter(({ top }) => (down ? top > here.top : top < here.top))
  if (!beyond.length) return chip
  const line = down ? Math.min(...beyond.map(({ top }) => top)) : Math.max(...beyond.map(({ top }) => top))
  const candidates = beyond.filter(({ top }) => top === line)
  return candidates.reduce((best, box) => (Math.abs(box.x - here.x) < Math.abs(best.x - here.x) ? box : best)).index
}
