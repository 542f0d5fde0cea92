// The transforms as controls: the values a slider steps through, what a typed text means, and what it may be. The rules
// are in stages.js, their sentences come with the payload.

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const NAMED = /^[+-]?(nan|inf|infinity)$/i

const hundredths = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => (from + i) / 100)

// The values a slider steps through, and where the switch puts a transform that was never on.
const TRANSFORM = {
  repetition_penalty: { first: 1.2, steps: () => hundredths(100, 200) },
  temperature: { first: 0.7, steps: () => hundredths(0, 200) },
  top_k: { first: 50, steps: (n) => [...topKs(n), 0] },
  top_p: { first: 0.9, steps: () => hundredths(1, 100) },
  min_p: { first: 0.05, steps: () => Array.from({ length: 100 }, (_, i) => (i * i) / 1e4) },
  typical_p: { first: 0.9, steps: () => hundredths(1, 100) },
}
const USUAL_ORDER = Object.keys(TRANSFORM) // generate()'s own

// About 150 whole numbers from 1 to the vocabulary, each a little larger than the one before.
const topKs = (n) => [...new Set(Array.from({ length: 160 }, (_, i) => Math.round(n ** (i / 159))))]

const isOn = (name, settings) => settings[name] !== OFF_SETTINGS[name]

// The slider's place of a value: the step nearest to it. Off has its own, a top-k beyond the vocabulary is off's neighbour.
function stepOf(name, value, steps) {
  const exact = steps.indexOf(value)
  if (exact >= 0) return exact
  let best = 0
  steps.forEach((step, i) => {
    const apart = (x) => (name === "top_k" && x === 0 ? Infinity : Math.abs(x - value))
    if (apart(step) < apart(steps[best])) best = i
  })
  return best
}

// A typed text -> {value} or {problem: the sentence}.
function readSetting(name, text, { rules, texts }) {
  const typed = text.trim()
  if (NAMED.test(typed)) return { problem: fill(rules[name], { value: typed }) }
  if (!PLAIN.test(typed)) return { problem: fill(texts.not_number, { value: typed, what: texts[name] }) }
  const value = Number(typed)
  const impossible = impossibleSettings({ ...OFF_SETTINGS, order: USUAL_ORDER, [name]: value })
  return impossible.length ? { problem: fill(rules[name], { value: typed }) } : { value }
}

// A seed is a whole number of any length, kept as text.
function readSeed(text, { rules, texts }) {
  const typed = text.trim()
  if (/^[+-]?\d{1,4000}$/.test(typed)) return { value: String(BigInt(typed.replace(/^\+/, ""))) }
  const key = PLAIN.test(typed) || NAMED.test(typed) ? rules.seed : texts.not_number
  return { problem: fill(key, { value: typed, what: texts.seed }) }
}

// ---- numbers on the bench ----

const GROUPED = new Intl.NumberFormat("en-US")
const whole = (n) => GROUPED.format(n)

// A probability in percent: one decimal where it is large, two digits where it is small, never 0 for what is possible.
function chance(p, texts) {
  const percent = 100 * p
  if (p === 0) return fill(texts.percent, { number: "0" })
  if (percent >= 0.995) return fill(texts.percent, { number: percent.toFixed(1) })
  if (percent >= 1e-4) return fill(texts.percent, { number: percent.toFixed(1 - Math.floor(Math.log10(percent))) })
  const power = Math.floor(Math.log10(percent))
  return fill(texts.percent, { number: `${Math.round(percent / 10 ** power)}×10${raised(power)}` })
}

const raised = (power) => String(power).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻")

const bits = (entropy) => Math.abs(entropy).toFixed(2)
