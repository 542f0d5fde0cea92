// How the token was chosen: the most likely ones as bars, the model's probability as an outline, what the settings made
// of it filled, and those that the settings removed grey. A click on one forces it here.

function createChoice(act) {
  const heading = element("div", { className: "heading" })
  const list = element("div", { className: "candidates", role: "list" })
  const rest = element("div", { className: "others" })
  const kept = element("p", { className: "note" })
  const hint = element("p", { className: "note hint" })
  const rows = []
  list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-token]")
    if (row && !row.disabled) act("force", Number(row.dataset.token))
  })
  const box = element("div", { className: "choice" }, heading, list, rest, kept, hint)
  return { box, heading, list, rest, kept, hint, rows }
}

function candidateRow() {
  const row = element("button", { type: "button", className: "candidate" })
  const parts = { label: "span", bar: "span", number: "span" }
  for (const name of Object.keys(parts)) row.append((parts[name] = element("span", { className: name })))
  parts.bar.append((parts.model = element("i", { className: "model" })), (parts.final = element("i", { className: "final" })))
  return { row, ...parts }
}

function drawChoice(choice, { reel, meta, at }) {
  const { texts } = meta
  const frame = reel.frames[at]
  drawHeading(choice.heading, reel, frame, at, texts)
  const count = frame.tokens.length
  while (choice.rows.length < count) {
    choice.rows.push(candidateRow())
    choice.list.append(choice.rows.at(-1).row)
  }
  const most = Math.max(...frame.probabilities, ...frame.finals, 1e-9)
  const cut = frame.kept.indexOf(false)
  const clean = cut > 0 && !frame.kept.slice(cut).includes(true)
  choice.rows.forEach((parts, i) => {
    parts.row.hidden = i >= count
    if (i < count) drawCandidate(parts, reel, meta, frame, i, { most, cut: clean && i === cut })
  })
  choice.rest.textContent = fill(texts.others, { count: wholeNumber(meta.vocab - count) })
  choice.rest.dataset.share = shareText(frame.rest, texts)
  choice.kept.textContent = keptText(frame, meta)
  const open = meta.alive && meta.limit > 0
  choice.hint.textContent = open ? (at === 0 ? texts.force_next : texts.force) : ""
}

function drawHeading(heading, reel, frame, at, texts) {
  const bits = fill(texts.entropy, { bits: frame.entropy.toFixed(1) })
  if (at === 0) {
    heading.replaceChildren(element("b", { textContent: texts.next }), element("span", { textContent: bits }))
    return
  }
  const label = element("b", { className: "token", textContent: frame.label })
  const number = frame.uniform === null ? null : frame.uniform.toFixed(3)
  const how = frame.how === "sampled" && number !== null ? fill(texts.sampled_with, { number }) : texts[frame.how]
  const share = shareText(frame.probability, texts)
  const words = [fill(texts.chosen, { probability: share, rank: wholeNumber(frame.rank) }), how, bits]
  const before = fill(texts.after, { label: isolate(labelAt(reel, frame.position - 1)) })
  heading.replaceChildren(label, element("span", { textContent: words.join(" · "), title: before }))
}

function drawCandidate({ row, label, number, model, final }, reel, meta, frame, i, { most, cut }) {
  const { texts } = meta
  const [token, probability, drawnWith, kept] = [frame.tokens[i], frame.probabilities[i], frame.finals[i], frame.kept[i]]
  const name = reel.labels[token] ?? String(token)
  const share = shareText(probability, texts)
  const same = Math.abs(drawnWith - probability) < 5e-4
  label.textContent = name
  number.textContent = !kept || same ? share : shareText(drawnWith, texts)
  model.style.width = `${(100 * probability) / most}%`
  final.style.width = `${kept ? (100 * drawnWith) / most : 0}%`
  row.dataset.token = String(token)
  row.classList.toggle("removed", !kept)
  row.classList.toggle("chosen", token === frame.token)
  row.classList.toggle("cut", cut)
  row.dataset.cut = cut ? texts.cut : ""
  row.disabled = !meta.alive || meta.limit === 0 || token === frame.token
  const template = !kept ? texts.candidate_removed : same ? texts.candidate : texts.candidate_final
  const drawnShare = shareText(drawnWith, texts)
  const words = fill(template, { label: isolate(name), probability: share, final: drawnShare })
  if (row.title !== words) {
    row.title = words
    row.setAttribute("aria-label", words)
  }
}

// A probability as a percentage; what is tiny is only said to be so.
const shareText = (p, texts) => (p > 0 && p < 1e-4 ? `< ${formatNumber(1e-4, "percent", texts)}` : formatNumber(p, "percent", texts))

function keptText(frame, { texts, vocab }) {
  const total = wholeNumber(vocab)
  if (frame.nKept === vocab) return fill(texts.kept_all, { total })
  if (frame.nKept === 1 && frame.how === "greedy") return texts.kept_one
  const mass = formatNumber(frame.keptMass, "percent", texts)
  return fill(texts.kept, { kept: wholeNumber(frame.nKept), total, mass })
}
