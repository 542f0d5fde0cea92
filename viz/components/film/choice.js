// What comes after the current frame: the most likely tokens as bars, with the model's probability as an outline, the
// probability under the settings filled, and removed tokens grey. The numbers are those under the settings: together
// 100 %. One of them was drawn, if the film went on; a click on another forces it. Lines lead there from the newest
// token.

import { closest, element, svg } from "../shared/dom.js"
import { mayChoose } from "../shared/follow.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { phrase, tokenNode } from "./axis_words.js"
import { following, labelAt, lastFrame } from "./frames.js"

const FAN = 44 // pixels from the text to the candidates

export function createChoice(act) {
  const heading = element("div", { className: "heading finding", role: "heading", "aria-level": "2" })
  const fan = svg("svg", { class: "fan", width: FAN, "aria-hidden": "true" })
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
  const box = element("div", { className: "choice" }, fan, heading, list, rest, named, kept, hint)
  return { box, heading, fan, list, rest, named, kept, hint, rows }
}

function candidateRow() {
  const row = element("button", { type: "button", className: "candidate" })
  const [label, bar, number] = ["label", "bar", "number"].map((className) => element("span", { className }))
  const [model, final] = ["model", "final"].map((className) => element("i", { className }))
  bar.append(final, model) // an outline is visible on the filled bar, not below it
  row.append(label, bar, number)
  return { row, label, number, model, final }
}

export function drawChoice(choice, state) {
  const { reel, meta, at } = state
  const { texts } = meta
  const frame = following(state)
  drawHeading(choice.heading, state, frame)
  const count = frame?.tokens.length ?? 0
  while (choice.rows.length < count) {
    choice.rows.push(candidateRow())
    choice.list.append(choice.rows.at(-1).row)
  }
  for (const [i, { row }] of choice.rows.entries()) row.hidden = i >= count
  for (const node of [choice.fan, choice.rest, choice.named, choice.kept, choice.hint]) node.toggleAttribute("hidden", !frame)
  if (!frame) return
  const open = mayChoose(state) && meta.alive && at < meta.limit
  const most = Math.max(...frame.probabilities, ...frame.finals, 1e-9)
  const cut = frame.kept.indexOf(false)
  const clean = cut > 0 && !frame.kept.slice(cut).includes(true)
  for (let i = 0; i < count; i++) drawCandidate(choice.rows[i], reel, meta, frame, i, { most, cut: clean && i === cut, open })
  choice.rest.textContent = fill(texts.others, { count: wholeNumber(meta.n_vocab - count) })
  choice.rest.dataset.share = shareText(frame.final_rest, texts)
  const own = frame.entropy.toFixed(1)
  choice.named.textContent = frame.changed ? fill(texts.after_settings, { bits: own }) : texts.own
  choice.kept.textContent = keptText(frame, meta)
  choice.hint.textContent = open ? (frame.token === null ? texts.force_next : texts.force) : ""
}

function drawHeading(heading, { reel, meta, at }, frame) {
  const { texts } = meta
  if (!frame) {
    const ended = meta.stop && at === lastFrame(reel)
    heading.replaceChildren(element("b", { textContent: ended ? texts[meta.stop] : texts.waiting }))
    return
  }
  const bits = fill(texts.entropy, { bits: frame.final_entropy.toFixed(1) })
  if (frame.token === null) {
    heading.replaceChildren(element("b", { textContent: texts.next }), element("span", { textContent: bits }))
    return
  }
  const number = frame.uniform === null ? null : frame.uniform.toFixed(3)
  const how = frame.how === "sampled" && number !== null ? fill(texts.sampled_with, { number }) : texts[frame.how]
  const values = { probability: shareText(frame.final, texts), rank: wholeNumber(frame.final_rank) }
  const words = [frame.final > 0 ? fill(texts.chosen, values) : texts.cut, how, bits]
  const after = fill(texts.after, { label: isolate(labelAt(reel, frame.position - 1)) })
  const token = tokenNode(reel, texts, frame.position, frame.position, "token")
  const name = element("b", {}, ...phrase(texts.comes, { token }))
  heading.replaceChildren(name, element("span", { textContent: words.join(" · "), title: after }))
}

// Lines from the newest token to the candidates, the wider the likelier; `from` is how far below the box's top it is.
export function drawFan({ fan, box, list }, frame, from) {
  const top = list.getBoundingClientRect().top - box.getBoundingClientRect().top
  const zoom = box.offsetWidth ? box.getBoundingClientRect().width / box.offsetWidth : 1
  const rows = Array.from(list.children).filter((row) => !row.hidden)
  fan.setAttribute("height", String(box.offsetHeight))
  fan.replaceChildren(
    ...rows.flatMap((row, i) => {
      if (!frame.kept[i]) return []
      const y = top / zoom + row.offsetTop - list.offsetTop + row.offsetHeight / 2
      const chosen = frame.tokens[i] === frame.token
      return [svg("path", {
        d: `M0,${from}C${FAN * 0.55},${from} ${FAN * 0.35},${y} ${FAN},${y}`,
        "stroke-width": (0.7 + 7 * frame.finals[i]).toFixed(2), class: chosen ? "chosen" : "",
      })]
    }),
  )
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

function keptText(frame, { texts, n_vocab }) {
  const total = wholeNumber(n_vocab)
  if (frame.n_kept === n_vocab) return fill(texts.kept_all, { total })
  if (frame.n_kept === 1 && frame.how === "greedy") return texts.kept_one
  const mass = formatNumber(frame.kept_mass, "percent", texts)
  return fill(texts.kept, { kept: wholeNumber(frame.n_kept), total, mass })
}
