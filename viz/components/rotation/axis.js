// Words, lines and axes of small charts on a canvas.

const SMALL = 11 // CSS pixels of ticks and captions

function write(context, theme, text, x, y, { color = theme.quiet, align = "left", baseline = "alphabetic", size = SMALL, bold = false } = {}) {
  context.font = `${bold ? "600 " : ""}${size}px ${theme.font}`
  Object.assign(context, { fillStyle: css(color), textAlign: align, textBaseline: baseline })
  context.fillText(text, x, y)
}

function rule(context, color, x0, y0, x1, y1, { width = 1, dash = [] } = {}) {
  context.save()
  context.setLineDash(dash)
  Object.assign(context, { strokeStyle: color, lineWidth: width })
  context.beginPath()
  context.moveTo(x0, y0)
  context.lineTo(x1, y1)
  context.stroke()
  context.restore()
}

function disc(context, color, x, y, radius) {
  context.fillStyle = color
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fill()
}

// Points as one line; a number that is not finite breaks it.
function curve(context, color, points, width = 1.5) {
  Object.assign(context, { strokeStyle: color, lineWidth: width, lineJoin: "round" })
  context.beginPath()
  let drawing = false
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) drawing = false
    else if (drawing) context.lineTo(x, y)
    else {
      context.moveTo(x, y)
      drawing = true
    }
  }
  context.stroke()
}

// Round numbers from low to high, at most `most` of them.
function roundTicks(low, high, most) {
  const span = high - low
  if (!(span > 0)) return [low]
  const power = 10 ** Math.floor(Math.log10(span / most))
  const step = [1, 2, 5, 10, 20].map((part) => part * power).find((size) => span / size <= most)
  const ticks = []
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)))
  return ticks
}

// 12 345 with a thin space, as in a table.
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f")

// 0.00562, 1.00, 4.2e−5: a frequency keeps three digits however small it is.
function threeDigits(value) {
  const size = Math.abs(value)
  return size === 0 ? "0" : tidy(size < 1e-3 ? value.toExponential(1) : size >= 100 ? value.toFixed(0) : value.toPrecision(3))
}

const subscripted = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit] ?? digit).join("")

// Lengthen [low, high] by a share of it on both sides; a single number gets room of its own.
function padded([low, high], share = 0.08) {
  const room = high > low ? (high - low) * share : Math.abs(high) * 0.1 || 1
  return [low - room, high + room]
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return low <= high ? [low, high] : [0, 0]
}
