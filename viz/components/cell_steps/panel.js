// The open step's formula with the numbers in it; with none open, the whole way in one glance.

const SHOWN_TERMS = 3 // products written out, the largest; the rest is one number

function formulaLines(state, cell) {
  const writers = [chainLines, vectorLines, productLines, scaleLines, maskLines, softmaxLines, valueLines, pushLines]
  return writers[state.open](state, cell)
}

const math = (text) => ({ kind: "math", text })
const words = (text) => ({ kind: "words", text })

function chainLines({ meta }, cell) {
  const { texts } = meta
  const score = fixed(cell.score, decimalsFor(Math.max(1, Math.abs(cell.score))))
  const scaled = meta.root === null ? `q·k × ${tidyScale(meta.scale)}` : `q·k ÷ √${meta.root}`
  return [
    math(`score = ${meta.softcap === null ? scaled : `cap(${scaled})`} = ${cell.visible ? score : "−∞"}`),
    math(`weight = exp(score − lse) = ${percent(cell.weight, texts)}`),
    math("output = Σⱼ weightⱼ · vⱼ"),
    words(texts.open),
  ]
}

function vectorLines({ meta, arrays, key }, cell) {
  const { texts } = meta
  const list = (values) => {
    const all = [...values].map((value) => fixed(value, 2))
    return `[${(all.length > 6 ? [...all.slice(0, 4), "…", all.at(-1)] : all).join(", ")}]`
  }
  const lines = [
    words(fill(texts.f_vectors, { head: meta.head, query: cell.query, key: cell.token })),
    math(`q${subscript(meta.query[1])} = ${list(arrays.q)}`),
    math(`k${subscript(key)} = ${list(cell.k)}`),
  ]
  if (meta.rotated) lines.push(words(fill(texts.f_rotated, { query_position: meta.query[1], key_position: key })))
  return lines
}

function productLines({ meta, arrays }, cell) {
  const decimals = decimalsFor(Math.abs(cell.dot))
  const order = [...cell.product.keys()].sort((a, b) => Math.abs(cell.product[b]) - Math.abs(cell.product[a]))
  const top = order.slice(0, SHOWN_TERMS)
  const numbers = top.map((i) => rounded(cell.product[i], decimals))
  const rest = rounded(rounded(cell.dot, decimals) - numbers.reduce((sum, number) => sum + number, 0), decimals)
  const more = cell.product.length - top.length
  const factors = top.map((i) => `${inner(arrays.q[i], 2)}·${inner(cell.k[i], 2)}`).join(" + ")
  const terms = numbers.map((number, i) => (i ? addend(number, decimals) : fixed(number, decimals))).join("")
  const left = more > 0 ? `${addend(rest, decimals)} (${fill(meta.texts.f_other_terms, { count: more })})` : ""
  return [
    math("q·k = Σᵢ qᵢ · kᵢ"),
    math(`= ${factors}${more > 0 ? " + …" : ""}`),
    math(`= ${terms}${left}`),
    math(`= ${fixed(cell.dot, decimals)}`),
  ]
}

function scaleLines({ meta }, cell) {
  const { texts, root, scale, softcap } = meta
  const [dot, decimals] = [fixed(cell.dot, decimalsFor(Math.abs(cell.dot))), decimalsFor(Math.max(1, Math.abs(cell.scaled)))]
  const scaled = fixed(cell.scaled, decimals)
  const lines = root === null
    ? [math(`score = q·k × scale = ${dot} × ${tidyScale(scale)} = ${scaled}`), words(scale === 1 ? texts.f_plain : fill(texts.f_scale, { scale: tidyScale(scale) }))]
    : [math(`score = q·k ÷ √d = ${dot} ÷ √${root}`), math(`= ${dot} × ${tidyScale(scale)} = ${scaled}`), words(fill(texts.f_root, { d: root }))]
  if (softcap === null) return lines
  const capped = fixed(cell.capped, decimals)
  return [...lines, math(`cap · tanh(score ÷ cap) = ${softcap} · tanh(${scaled} ÷ ${softcap}) = ${capped}`), words(fill(texts.f_cap, { cap: softcap }))]
}

function maskLines({ meta }, cell) {
  const score = fixed(cell.capped, decimalsFor(Math.max(1, Math.abs(cell.capped))))
  const values = { query: cell.query, key: cell.token, score }
  return [
    math(cell.visible ? `score = ${score} + 0 = ${score}` : `score = ${score} + (−∞) = −∞`),
    words(fill(cell.visible ? meta.texts.f_visible : meta.texts.f_masked, values)),
  ]
}

function softmaxLines({ meta }, cell) {
  const { texts } = meta
  const lse = meta.lse ?? -Infinity
  const decimals = decimalsFor(Math.max(1, Math.abs(cell.score), Math.abs(lse)))
  const [score, total] = [rounded(cell.score, decimals), rounded(lse, decimals)]
  const lines = [math("weight = exp(score) ÷ Σⱼ exp(scoreⱼ) = exp(score − lse)")]
  if (cell.visible) {
    lines.push(math(`= exp(${fixed(score, decimals)} − ${inner(total, decimals)}) = exp(${fixed(score - total, decimals)})`))
  }
  lines.push(math(`= ${cell.weight.toFixed(cell.weight < 0.001 ? 6 : 4)} = ${percent(cell.weight, texts)}`), words(texts.f_lse))
  if (meta.sink !== null) lines.push(words(fill(texts.f_sink, { weight: percent(meta.sink, texts) })))
  return lines
}

function valueLines(state, cell) {
  const { meta, arrays } = state
  const { texts } = meta
  const parts = mixedParts(state, cell)
  const sum = parts.map((part) => `${percent(part.weight, texts)}·v(${part.i === null ? fill(texts.others, { count: part.count }) : isolate(meta.labels[part.i])})`)
  const found = valueTerms(parts, arrays.mixed, state.valueDimension ?? 0)
  const difference = meta.difference === 0 ? "0" : formatNumber(meta.difference, "plain", texts)
  return [
    math("output = Σⱼ weightⱼ · vⱼ"),
    math(`= ${sum.join(" + ")}`),
    math(fill(texts.value_dimension, found)),
    words(fill(texts.f_mixed, { difference })),
  ]
}

function pushLines({ meta }) {
  const { texts, push } = meta
  if (typeof push === "string") return [words(push)]
  return [
    math("push = W_U · (norm of (W_O · output))"),
    words(texts.f_push),
    words(texts.f_frozen),
    words(fill(texts.f_mean, { mean: signed(push.mean, decimalsFor(Math.max(Math.abs(push.mean), 0.1)) - 1) })),
  ]
}

function drawPanel(state, cell) {
  const { panel, steps, meta } = state
  for (const [i, step] of steps.entries()) {
    step.button.setAttribute("aria-expanded", String(state.open === i + 1))
    step.section.classList.toggle("open", state.open === i + 1)
  }
  const heading = state.open ? `${state.open} ${steps[state.open - 1].words.textContent}` : `${meta.head}: ${cell.query} → ${cell.token}`
  const lines = formulaLines(state, cell).map(({ kind, text }) => element("div", { className: kind, textContent: text }))
  panel.replaceChildren(element("div", { className: "heading", textContent: heading }), ...lines)
  // Narrow: the formula unfolds under its step. Wide: it has a place of its own under the score.
  const home = state.narrow && state.open ? steps[state.open - 1].section : state.columns[0]
  if (panel.parentElement !== home) home.append(panel)
  panel.hidden = state.narrow && !state.open
}
