// One axis of tokens for all that the new token touches: the open head's attention row as bars, the same row of every
// head as a strip, and the cache's keys and values, which have one column more in every frame.

const GUTTER = 54 // room for the names of the rows
const BARS = 64
const STRIP = 168 // the most that the rows of all heads take together
const DEEP = 128 // the most that keys, and values, take
const GAP = 12
const WIDEST = 34
const LABEL = 12 // a column must be this wide for a slanted label
const SLOPE = Math.PI / 3
const MASKED = 255 // in a strip; 0..254 is a weight

function createAxis(root, act) {
  const heading = element("div", { className: "heading" })
  const canvas = element("canvas", { role: "img", tabIndex: 0 })
  const caption = element("p", { className: "note caption" })
  const cache = element("p", { className: "note cache" })
  const live = element("div", { className: "heard", "aria-live": "polite" })
  const box = element("div", { className: "axis" }, heading, canvas, caption, cache, live)
  const axis = { box, heading, canvas, caption, cache, live, hover: null, images: {}, layout: null }
  axis.announce = announcer(live)
  canvas.addEventListener("pointermove", (event) => {
    axis.hover = { x: event.offsetX, y: event.offsetY }
    act("hover")
  })
  canvas.addEventListener("pointerleave", () => {
    axis.hover = null
    act("hover")
  })
  canvas.addEventListener("click", (event) => {
    const found = place(axis, event.offsetX, event.offsetY)
    if (found?.part === "strip") act("head", axis.heads[found.row])
  })
  return axis
}

// Where everything stands, in CSS pixels, for this width.
function axisLayout({ reel, meta }, width) {
  const bin = meta.view.bin
  const columns = Math.ceil((reel.prompt.labels.length + Math.max(meta.limit, lastFrame(reel))) / bin)
  const cell = Math.min(WIDEST, (width - GUTTER - 4) / columns)
  const nHeads = meta.view.heads.length
  const slanted = cell >= LABEL && bin === 1
  let y = slanted ? 70 : 22
  const parts = { bars: { y, height: BARS } }
  y += BARS + GAP
  if (nHeads) {
    const row = clamp(STRIP / nHeads, 1, 9)
    parts.strip = { y, height: Math.max(row * nHeads, 8), row }
    y += parts.strip.height + GAP
  }
  for (const name of ["k", "v"]) {
    const depth = reel[name][0]?.length ?? 1
    parts[name] = { y, height: clamp(depth * 2, 24, nHeads ? Math.max(64, depth) : DEEP) }
    y += parts[name].height + (name === "k" ? 5 : 0)
  }
  return { width, height: y + 2, left: GUTTER, cell, columns, bin, slanted, parts }
}

function place({ layout }, x, y) {
  if (!layout) return null
  const column = Math.floor((x - layout.left) / layout.cell)
  if (column < 0 || column >= layout.columns) return null
  for (const [part, { y: top, height, row }] of Object.entries(layout.parts)) {
    if (y >= top && y < top + height) return { part, column, row: row ? Math.floor((y - top) / row) : 0 }
  }
  return null
}

function drawAxis(axis, state, theme) {
  const { reel, meta, at } = state
  const frame = reel.frames[at]
  const width = axis.box.clientWidth
  if (!width) return
  const layout = (axis.layout = axisLayout(state, width))
  axis.heads = meta.view.heads
  const context = sizeCanvas(axis.canvas, width, layout.height)
  context.font = `11px ${theme.font}`
  const now = Math.floor(frame.position / layout.bin) // the new token's column
  drawRoom(context, layout, theme)
  drawBars(context, layout, frame, now, theme)
  if (layout.parts.strip) drawStrip(context, axis, layout, meta.view, frame, theme)
  for (const name of ["k", "v"]) drawCache(context, axis, layout, reel, name, now, theme)
  drawColumnLabels(context, layout, reel, frame, now, theme)
  drawNames(context, layout, meta, theme)
  context.strokeStyle = css(theme.query)
  context.lineWidth = 1.5
  const { k, v } = layout.parts
  context.strokeRect(layout.left + now * layout.cell, k.y - 1, layout.cell, v.y + v.height - k.y + 2)
  drawWords(axis, state, frame)
}

// The room that the film may still fill.
function drawRoom(context, { parts, left, cell, columns }, theme) {
  context.strokeStyle = css(theme.rule)
  context.lineWidth = 1
  for (const { y, height } of [parts.strip, parts.k, parts.v].filter(Boolean)) {
    context.strokeRect(left - 0.5, Math.round(y) - 0.5, cell * columns + 1, Math.round(height) + 1)
  }
  const base = parts.bars.y + parts.bars.height
  context.beginPath()
  context.moveTo(left, base + 0.5)
  context.lineTo(left + cell * columns, base + 0.5)
  context.stroke()
}

function drawBars(context, { parts: { bars }, left, cell }, { row }, now, theme) {
  const gap = cell > 6 ? 1 : 0
  for (let column = 0; column < row.length; column++) {
    const x = left + column * cell
    if (Number.isNaN(row[column])) {
      context.fillStyle = css(theme.masked)
      context.fillRect(x, bars.y + bars.height - 5, cell - gap, 5)
      continue
    }
    const height = row[column] * (bars.height - 12)
    context.fillStyle = css(rampColor(theme.sequential, 0.35 + 0.65 * row[column]))
    context.fillRect(x, bars.y + bars.height - height, cell - gap, height)
    if (cell >= 20 && row[column] >= 0.095) {
      context.fillStyle = css(theme.quiet)
      context.textAlign = "center"
      context.fillText((100 * row[column]).toFixed(0), x + (cell - gap) / 2, bars.y + bars.height - height - 3)
    }
  }
}

function drawStrip(context, axis, { parts: { strip }, left, cell }, view, frame, theme) {
  const [rows, columns] = [view.heads.length, frame.row.length]
  const colors = ramp(theme.sequential)
  const grey = ramp([[0, ...theme.masked], [1, ...theme.masked]])[0]
  const image = new ImageData(columns, rows)
  const pixels = new Uint32Array(image.data.buffer)
  for (let i = 0; i < pixels.length; i++) {
    const value = frame.strip[i]
    pixels[i] = value === MASKED ? grey : colors[Math.round((value * 255) / 254)]
  }
  drawImage(context, axis, "strip", image, [left, strip.y, columns * cell, strip.height])
  const [layer, head] = view.head
  const open = view.heads.findIndex(([l, h]) => l === layer && h === head)
  context.lineWidth = 1.5
  const mates = view.heads.flatMap(([l, h], i) => (l === layer && Math.floor(h / view.group) === Math.floor(head / view.group) ? [i] : []))
  context.strokeStyle = css(mix(theme.background, theme.primary, 0.5)) // they share the open head's keys and values
  if (mates.length > 1) context.strokeRect(left - 1, strip.y + mates[0] * strip.row - 0.5, columns * cell + 2, mates.length * strip.row + 1)
  context.strokeStyle = css(theme.primary)
  if (open >= 0) context.strokeRect(left - 1, strip.y + open * strip.row - 0.5, columns * cell + 2, strip.row + 1)
}

// The cache's columns up to now, one colour scale for all frames: it clips nothing and does not change while scrubbing.
function drawCache(context, axis, { parts, left, cell }, reel, name, now, theme) {
  const columns = reel[name]
  if (!columns.length) return
  const key = `${reel.version} ${theme.dark}`
  const depth = columns[0].length
  if (axis.images[name]?.key !== key) {
    const most = Math.max(1e-9, ...columns.map((column) => column.reduce((m, x) => Math.max(m, Math.abs(x)), 0)))
    const colors = ramp(theme.diverging)
    const image = new ImageData(columns.length, depth)
    const pixels = new Uint32Array(image.data.buffer)
    columns.forEach((column, x) => {
      for (let y = 0; y < depth; y++) pixels[y * columns.length + x] = colors[Math.round(127.5 + (127.5 * column[y]) / most)]
    })
    axis.images[name] = { key, image }
  }
  const shown = Math.min(now + 1, columns.length)
  const { y, height } = parts[name]
  drawImage(context, axis, name, axis.images[name].image, [left, y, shown * cell, height], shown)
}

function drawImage(context, axis, name, image, [x, y, width, height], shown = image.width) {
  const canvases = (axis.canvases ??= {})
  const canvas = (canvases[name] ??= document.createElement("canvas"))
  if (canvas.drawn !== image) {
    Object.assign(canvas, { width: image.width, height: image.height, drawn: image })
    canvas.getContext("2d").putImageData(image, 0, 0)
  }
  context.imageSmoothingEnabled = height * (devicePixelRatio || 1) < image.height
  context.drawImage(canvas, 0, 0, shown, image.height, x, y, width, height)
}

function drawColumnLabels(context, layout, reel, { row, position }, now, theme) {
  const { parts: { bars }, left, cell, bin, slanted } = layout
  const nameOf = (column) => isolate(labelAt(reel, column * bin))
  const color = (column) => css(column === now ? theme.query : theme.text)
  if (slanted) {
    context.textAlign = "left"
    for (let column = 0; column <= now; column++) {
      context.save()
      context.translate(left + (column + 0.5) * cell + 3, bars.y - 4)
      context.rotate(-SLOPE)
      context.fillStyle = color(column)
      context.fillText(fitText(context, nameOf(column), 72), 0, 0)
      context.restore()
    }
    return
  }
  // Too narrow for all: the columns looked at most, as far as they do not touch each other.
  const order = [...row.keys()].filter((column) => row[column] > 0.02).sort((a, b) => row[b] - row[a])
  const taken = []
  context.textAlign = "center"
  for (const column of [now, ...order].slice(0, 12)) {
    const text = fitText(context, isolate(labelAt(reel, column === now ? position : column * bin)), 90)
    const half = context.measureText(text).width / 2 + 4
    const x = clamp(left + (column + 0.5) * cell, left + half, layout.width - half)
    if (taken.some(([a, b]) => x - half < b && x + half > a)) continue
    taken.push([x - half, x + half])
    context.fillStyle = color(column)
    context.fillText(text, x, bars.y - 8)
  }
}

function drawNames(context, { parts, left }, { view, texts }, theme) {
  context.textAlign = "right"
  context.textBaseline = "middle"
  const name = (text, y, color) => {
    context.fillStyle = css(color)
    context.fillText(fitText(context, text, left - 10), left - 7, y)
  }
  name(`L${view.head[0]}H${view.head[1]}`, parts.bars.y + parts.bars.height - 7, theme.primary)
  name(texts.cache_k, parts.k.y + parts.k.height / 2, theme.key)
  name(texts.cache_v, parts.v.y + parts.v.height / 2, theme.value)
  if (parts.strip) {
    const { y, row } = parts.strip
    let last = -99
    view.heads.forEach(([layer, head], i) => {
      const first = i === 0 || view.heads[i - 1][0] !== layer
      const count = view.heads.filter(([other]) => other === layer).length
      const middle = y + (i + count / 2) * row
      if (!first || middle - last < 11) return
      last = middle
      name(`L${layer}`, middle, layer === view.head[0] ? theme.primary : theme.quiet)
    })
  }
  context.textBaseline = "alphabetic"
}

// ---- words ----------------------------------------------------------------------------------------------------------

function drawWords(axis, { reel, meta, at }, frame) {
  const { texts, view } = meta
  const head = `L${view.head[0]}H${view.head[1]}`
  const query = isolate(frame.label)
  const parts = [element("b", { textContent: fill(texts.looks, { head, label: query }) })]
  if (view.heads.length) {
    const layers = new Set(view.heads.map(([layer]) => layer))
    const whole = view.heads.length === view.total
    const words = { count: view.heads.length, total: view.total, layer: [...layers][0] }
    parts.push(element("span", { textContent: fill(whole ? texts.heads : texts.heads_layer, words) }))
  }
  axis.heading.replaceChildren(...parts)
  const most = frame.row.reduce((best, value, i) => (value > (frame.row[best] || 0) ? i : best), 0)
  const share = (value) => formatNumber(value, "percent", texts)
  const key = isolate(labelAt(reel, most * view.bin))
  const summary = fill(texts.summary, { head, query, weight: share(frame.row[most] || 0), key })
  const hovered = axis.hover && hoverWords(axis, reel, meta, frame)
  axis.caption.textContent = hovered || summary
  if (axis.canvas.getAttribute("aria-label") !== summary) axis.canvas.setAttribute("aria-label", summary)
  axis.canvas.style.cursor = axis.hover && place(axis, axis.hover.x, axis.hover.y)?.part === "strip" ? "pointer" : ""
  if (at !== axis.announced) axis.announce(summary)
  axis.announced = at
  axis.cache.textContent = cacheWords(reel, meta, frame)
}

function cacheWords(reel, { cache, view, texts }, frame) {
  const count = frame.position + 1
  const sum = fill(texts.cache, { count: wholeNumber(count), bytes: bytesText(count * cache.bytes) })
  const words = [sum]
  if (cache.shape) {
    const [layers, heads, depth, size] = cache.shape
    words[0] += ` = ${fill(texts.formula, { layers, heads, depth, size, tokens: wholeNumber(count) })}`
  }
  if (view.bin > 1) words.push(fill(texts.pooled, { count: view.bin }))
  if (cache.pooled > 1) words.push(fill(texts.pooled_rows, { count: cache.pooled }))
  return words.join(". ")
}

function hoverWords(axis, reel, { view, texts }, frame) {
  const found = place(axis, axis.hover.x, axis.hover.y)
  if (!found || found.column >= frame.row.length) return ""
  const { part, column, row } = found
  const key = isolate(labelAt(reel, Math.min(column * view.bin, frame.position)))
  const query = isolate(frame.label)
  if (part === "k" || part === "v") {
    const values = reel[part][column]
    if (!values) return ""
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => formatNumber(value, "plain", texts))
    return fill(texts.vector, { name: part.toUpperCase(), label: key, count: values.length, low, high })
  }
  let weight = frame.row[column]
  let head = view.head
  if (part === "strip") {
    head = view.heads[row] ?? head
    const value = frame.strip[row * frame.row.length + column]
    weight = value === MASKED ? NaN : value / 254
  }
  const template = Number.isNaN(weight) ? texts.masked : texts.look
  const words = fill(template, { query, key, weight: formatNumber(weight, "percent", texts) })
  return `L${head[0]}H${head[1]}: ${words}`
}
