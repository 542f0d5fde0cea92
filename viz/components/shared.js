// What every component may use. This text is put before a component's own module, so nothing here is exported and no
// name here may be reused there. Words never live here: they come from the payload's `texts`.

// Packed bytes -> {meta, arrays: {name: typed array with .shape}}. See packing.py.
function unpack(data) {
  const bytes = data.slice() // a copy of its own: the received view need not start on a multiple of four
  const view = new DataView(bytes.buffer)
  const length = view.getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  const start = (4 + length + 3) & ~3
  const types = { float32: Float32Array, uint8: Uint8Array, int32: Int32Array }
  const arrays = {}
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const count = shape.reduce((product, n) => product * n, 1)
    arrays[name] = new types[dtype](bytes.buffer, start + offset, count)
    arrays[name].shape = shape
  }
  return { meta: header.meta, arrays }
}

// "{query} looks {value}" with {query: "·it", value: "91 %"}; a name without a value stays as it is written.
function fill(template, values) {
  return String(template ?? "").replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value))

// ---- colours and theme ----------------------------------------------------------------------------------------------

const css = ([r, g, b], alpha = 1) => (alpha >= 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`)

// Any CSS colour -> [r, g, b, a]; null when the browser does not know it.
function rgba(text) {
  const context = (rgba.context ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true }))
  context.fillStyle = "#010203"
  context.fillStyle = text
  const hex = /^#(..)(..)(..)$/.exec(context.fillStyle)
  if (hex) return context.fillStyle === "#010203" ? null : [...hex.slice(1).map((part) => parseInt(part, 16)), 1]
  const parts = context.fillStyle.match(/[\d.]+/g)
  return parts ? parts.slice(0, 4).map(Number) : null
}

const mix = (a, b, t) => [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * t))

// WCAG relative luminance, 0..1.
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  return 0.2126 * x + 0.7152 * y + 0.0722 * z
}

// The theme around `root`, from Streamlit's variables or, in a page of our own, from prefers-color-scheme. Also writes
// data-theme and the variables --aa-… on the root, so that the style sheet needs no fallbacks. Colours are [r, g, b];
// with a palette (color.py) it also gives query, key, value, masked and the ramps' control points.
function readTheme(root, palette) {
  const style = getComputedStyle(root)
  const wantsDark = matchMedia("(prefers-color-scheme: dark)").matches
  const read = (name, light, dark) =>
    (rgba(style.getPropertyValue(`--st-${name}`).trim() || "-") ?? rgba(wantsDark ? dark : light)).slice(0, 3)
  const background = read("background-color", "#fcfcfa", "#14151a")
  const text = read("text-color", "#1a1c22", "#e8e8ec")
  const dark = luminance(background) < 0.2
  const theme = {
    dark,
    background,
    text,
    quiet: mix(background, text, 0.64), // axis words, ticks
    rule: mix(background, text, 0.16), // thin lines
    secondary: read("secondary-background-color", "#f3f3ee", "#1b1c22"),
    primary: read("primary-color", "#36339a", "#9ea0f0"),
    font: style.getPropertyValue("--st-font").trim() || "system-ui, sans-serif",
  }
  if (palette) {
    const side = dark ? "dark" : "light"
    for (const name of ["query", "key", "value", "compare", "masked", "sequential", "diverging"]) {
      theme[name] = palette[name][side]
    }
  }
  root.dataset.theme = dark ? "dark" : "light"
  for (const name of ["background", "text", "quiet", "rule", "secondary", "primary", "query", "key", "value", "compare"]) {
    if (theme[name]) root.style.setProperty(`--aa-${name}`, css(theme[name]))
  }
  root.style.setProperty("--aa-font", theme.font)
  return theme
}

// Control points [[t, r, g, b], …] -> 256 colours as the little-endian words of ImageData.
function ramp(points) {
  const words = new Uint32Array(256)
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = rampColor(points, i / 255)
    words[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0
  }
  return words
}

function rampColor(points, t) {
  let i = 1
  while (i < points.length - 1 && t > points[i][0]) i++
  const [t0, ...from] = points[i - 1]
  const [t1, ...to] = points[i]
  return mix(from, to, clamp((t - t0) / (t1 - t0), 0, 1))
}

// Text that is readable on a cell of this colour.
const inkOn = (color) => (luminance(color) > 0.3 ? [26, 28, 34] : [252, 252, 250])

// ---- canvas ---------------------------------------------------------------------------------------------------------

// Give the canvas this size in CSS pixels, sharp on this screen, and return its cleared context.
function sizeCanvas(canvas, width, height) {
  const ratio = devicePixelRatio || 1
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h })
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  const context = canvas.getContext("2d")
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

// The longest beginning of `text` that fits `width` in the context's font, with … where something was cut.
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text
  const letters = [...text]
  let [low, high] = [0, letters.length]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (context.measureText(letters.slice(0, middle).join("") + "…").width <= width) low = middle
    else high = middle - 1
  }
  return low ? letters.slice(0, low).join("") + "…" : ""
}

// Direction marks around a token keep a right-to-left one from reordering what is drawn beside it.
const isolate = (text) => `\u2068${text}\u2069`

// ---- numbers and words ----------------------------------------------------------------------------------------------

// A weight as a percentage with about two significant digits; another number with about three. A true minus sign.
function formatNumber(value, number, texts) {
  if (!Number.isFinite(value)) return texts?.undefined ?? "–"
  if (number !== "percent") return formatPlain(value)
  const percent = value * 100
  const size = Math.abs(percent)
  const digits = size >= 9.95 || size === 0 ? percent.toFixed(0) : size >= 0.05 ? percent.toFixed(1) : percent.toPrecision(1)
  return fill(texts?.percent ?? "{number} %", { number: tidy(digits) })
}

function formatPlain(value) {
  const size = Math.abs(value)
  if (size === 0) return "0"
  if (size >= 1e5 || size < 1e-3) return tidy(value.toExponential(1))
  return tidy(size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(size >= 0.1 ? 2 : 3))
}

const tidy = (digits) => digits.replace("-", "−").replace(/e\+?(−|-)?(\d+)/, (_, sign, power) => `e${sign ? "−" : ""}${power}`)

// ---- life of a component --------------------------------------------------------------------------------------------

// The component's state, made once per root by `create(root)` and found again when the host calls with new data. The
// host runs the cleanup of the last call only, when the component leaves: so return `state.dispose` from every call.
function stateOf(root, create) {
  return (root.atlas ??= create(root))
}

// A choice that both the user and the host make: the user's is drawn at once, and the host's answers to the user's
// earlier choices must not undo it. `fromHost` is what new data says; returns what to draw. Store the user's own choice
// with `chosen`.
function reconcile(state, name, fromHost) {
  const slot = (state[`${name}Choice`] ??= { host: undefined, current: fromHost, asked: null, until: 0 })
  const said = JSON.stringify(fromHost)
  if (said !== slot.host) {
    slot.host = said
    const stale = slot.asked !== null && slot.asked !== said && performance.now() < slot.until
    if (!stale) Object.assign(slot, { current: fromHost, asked: null })
  }
  return slot.current
}

function chosen(state, name, value) {
  Object.assign(state[`${name}Choice`], { current: value, asked: JSON.stringify(value), until: performance.now() + 3000 })
}

// Call `repaint` (at most once a frame) when the width, the theme of a page of our own or the pixel ratio changes.
// Returns a function that stops it.
function watchLayout(root, repaint) {
  let frame = 0
  let [width, ratio] = [root.clientWidth, devicePixelRatio]
  const later = () => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(repaint)
  }
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === width && devicePixelRatio === ratio) return
    ;[width, ratio] = [root.clientWidth, devicePixelRatio]
    later()
  })
  observer.observe(root)
  const scheme = matchMedia("(prefers-color-scheme: dark)")
  scheme.addEventListener("change", later)
  return () => {
    cancelAnimationFrame(frame)
    observer.disconnect()
    scheme.removeEventListener("change", later)
  }
}

// Repaint when the layout changes, and give the state its `dispose`; `end` stops what else the component has running.
function keepDrawn(state, repaint, end = () => {}) {
  const stop = watchLayout(state.root, repaint)
  state.dispose = () => {
    stop()
    end()
    state.announce.stop()
    clearTimeout(state.asking)
    cancelAnimationFrame(state.frame)
    state.root.replaceChildren()
    delete state.root.atlas
  }
}

// A painted picture is countable from outside: tests and benchmarks wait for this number to grow.
function markPainted(root) {
  root.dataset.painted = String(Number(root.dataset.painted ?? 0) + 1)
}

// Put the latest text into an aria-live element, at most once every `pause` milliseconds.
function announcer(element, pause = 400) {
  let [timer, waiting, last] = [0, null, 0]
  const say = () => {
    timer = 0
    last = performance.now()
    if (waiting !== null && element.textContent !== waiting) element.textContent = waiting
    waiting = null
  }
  const announce = (text) => {
    waiting = text
    if (!timer) timer = setTimeout(say, Math.max(0, pause - (performance.now() - last)))
  }
  announce.stop = () => clearTimeout(timer)
  return announce
}

// createElement with properties, attributes (names with a dash, role) and children; text is set as text, never as HTML.
function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name === "className" || name === "textContent" || name === "hidden" || name === "tabIndex") node[name] = value
    else node.setAttribute(name, value)
  }
  node.append(...children)
  return node
}
