// How the token was chosen: the most likely ones as bars, the model's probability as an outline, what the settings made
// of it filled, and those that the settings removed grey. The numbers are of what the settings made: together 100 %. A
// click on a token forces it here.

import { closest, element } from "../shared/dom.js"
import { mayChoose } from "../shared/follow.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { labelAt } from "./frames.js"

export function createChoice(act) {
  const heading = element("div", { className: "heading" })
  const when = element("p", { className: "note when" })
  const list = element("div", { className: "candidates", role: "group" })
  const rest = element("div", { className: "others" })
  const named = element("p", { className: "note named" })
  const kept = element("p", { className: "note" })
  const hint = element("p", { className: "note hint" })
  const rows = []
  list.addEventListener("click", (event) => {
    const row = closest(event, "[data-token]")
    if (row && !row.hasAttribute("disabled")) act("force", Number(row.dataset.token))
  })
  const box = element("div", { className: "choice" }, heading, when, list, rest, named, kept, hint)
  return { box, heading, when, list, rest, named, kept, hint, rows }
}

function candidateRow() {
  const row = element("button", { type: "button", className: "candidate" })
  const [label, bar, number] = ["label", "bar", "number"].map((className) => element("span", { className }))
  const [model, final] = ["model", "final"].map((className) => element("i", { className }))
  bar.append(final, model) // an outline is seen on what is filled, not under it
  row.append(label, bar, number)
  return { row, label, number, model, final }
}

export function drawChoice(choice, state) {
  const { reel, meta, at } = state
  const { texts } = meta
  const frame = reel.frames[at]
  drawHeading(choice.heading, reel, frame, at, texts)
  const count = frame.tokens.length
  while (choice.rows.length < count) {
    choice.rows.push(candidateRow())
    choice.list.append(choice.rows.at(-1).row)
  }
  const open = mayChoose(state) && meta.alive && meta.limit > 0
  const most = Math.max(...frame.probabilities, ...frame.finals, 1e-9)
  const cut = frame.kept.indexOf(false)
  const clean = cut > 0 && !frame.kept.slice(cut).includes(true)
  choice.rows.forEach((parts, i) => {
    parts.row.hidden = i >= count
    if (i < count) drawCandidate(parts, reel, meta, frame, i, { most, cut: clean && i === cut, open })
  })
  choice.rest.textContent = fill(texts.others, { count: wholeNumber(meta.vocab - count) })
  choice.rest.dataset.share = shareText(frame.finalRest, texts)
  const own = frame.entropy.toFixed(1)
  choice.named.textContent = frame.changed ? fill(texts.after_settings, { bits: own }) : texts.own
  choice.kept.textContent = keptText(frame, meta)
  choice.hint.textContent = open ? (at === 0 ? texts.force_next : texts.force) : ""
}

function drawHeading(heading, reel, frame, at, texts) {
  const bits = fill(texts.entropy, { bits: frame.finalEntropy.toFixed(1) })
  if (at === 0) {
    heading.replaceChildren(element("b", { textContent: texts.next }), element("span", { textContent: bits }))
    return
  }
  const label = element("b", { className: "token", textContent: frame.label })
  const number = frame.uniform === null ? null : frame.uniform.toFixed(3)
  const how = frame.how === "sampled" && number !== null ? fill(texts.sampled_with, { number }) : texts[frame.how]
  const values = { probability: shareText(frame.final, texts), rank: wholeNumber(frame.finalRank) }
  const words = [frame.final > 0 ? fill(texts.chosen, values) : texts.cut, how, bits]
  const before = fill(texts.after, { label: isolate(labelAt(reel, frame.position - 1)) })
  heading.replaceChildren(label, element("span", { textContent: words.join(" · "), title: before }))
}

function drawCandidate({ row, label, number, model, final }, reel, meta, frame, i, { most, cut, open }) {
  const { texts } = meta
  const [token, probability, drawnWith, kept] = [frame.tokens[i], frame.probabilities[i], frame.finals[i], frame.kept[i]]
  const name = reel.labels[token] ?? String(token)
  const share = shareText(probability, texts)
  label.textContent = name
  number.textContent = shareText(drawnWith, texts)
  model.style.width = `${(100 * probability) / most}%`
  final.style.width = `${kept ? (100 * drawnWith) / most : 0}%`
  row.dataset.token = String(token)
  row.classList.toggle("removed", !kept)
  row.classList.toggle("chosen", token === frame.token)
  row.classList.toggle("cut", cut)
  row.dataset.cut = cut ? texts.cut : ""
  row.disabled = !open || token === frame.token
  const template = !kept ? texts.candidate_removed : frame.changed ? texts.candidate_final : texts.candidate
  const drawnShare = shareText(drawnWith, texts)
  const words = fill(template, { label: isolate(name), probability: share, final: drawnShare })
  if (row.title !== words) row.title = words
}

// A probability as a percentage.
export const shareText = (p, texts) => formatNumber(p, "percent", texts)

function keptText(frame, { texts, vocab }) {
  const total = wholeNumber(vocab)
  if (frame.nKept === vocab) return fill(texts.kept_all, { total })
  if (frame.nKept === 1 && frame.how === "greedy") return texts.kept_one
  const mass = formatNumber(frame.keptMass, "percent", texts)
  return fill(texts.kept, { kept: wholeNumber(frame.nKept), total, mass })
}
