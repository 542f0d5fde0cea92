// The text so far: the prompt in a quiet colour, generated tokens tinted by their probability, later ones as ghosts.
// Each chip is over its column or, where there is no room for that, all of them form lines of text.

import { closest, element } from "../shared/dom.js"
import { css, inkOn, rampColor } from "../shared/theme.js"
import { fill, isolate, wholeNumber } from "../shared/words.js"
import { shareText } from "./choice.js"

const PROMPT_CHIPS = 240 // the last tokens of a longer prompt are drawn, with the number of those before
const TINT = 0.5 // a chip starts as a label

export function createChips(act) {
  const box = element("div", { className: "chips" })
  box.addEventListener("click", (event) => {
    const chip = closest(event, "[data-frame]")
    if (chip) act("scrub", Number(chip.dataset.frame))
  })
  return { box, version: -1, at: -1 }
}

export function drawChips(chips, { reel, meta, at, seen, shown }, layout, theme) {
  const key = `${reel.version} ${shown} ${theme.dark}`
  if (chips.version !== key) buildChips(chips.box, reel, shown, meta, theme)
  chips.version = key
  chips.box.classList.toggle("lane", layout.mode === "chips")
  chips.box.style.fontSize = layout.mode === "chips" ? `${layout.size}px` : ""
  Array.from(chips.box.children, (chip, i) => {
    const [left, width] = layout.chips?.[i] ?? []
    Object.assign(chip.style, { left: left === undefined ? "" : `${left}px`, width: left === undefined ? "" : `${width}px` })
  })
  for (const chip of chips.box.querySelectorAll("[data-frame]")) {
    const frame = Number(chip.dataset.frame)
    chip.classList.toggle("ghost", frame > at)
    chip.classList.toggle("coming", frame > seen)
    chip.classList.toggle("current", frame === at)
    if (frame === at) chip.setAttribute("aria-current", "true")
    else chip.removeAttribute("aria-current")
  }
  const current = chips.box.querySelector(".current")
  if (at !== chips.at && current) reveal(chips.box, current)
  chips.at = at
  chips.box.setAttribute("aria-label", fill(meta.texts.chips, { count: at }))
}

// Chips that stay the same are not moved, so that a click that has begun on one is not lost when more frames arrive.
function buildChips(box, reel, shown, meta, theme) {
  const wanted = [...promptChips(reel.prompt, meta.texts)]
  for (let i = 1; i <= shown; i++) wanted.push(drawnChip(reel.frames[i], i, meta, theme))
  wanted.forEach((chip, i) => {
    const there = box.children[i]
    chip.made = chip.cloneNode(true) // before it is marked as a ghost or the current one
    if (!there) box.append(chip)
    else if (!there.made.isEqualNode(chip)) there.replaceWith(chip)
  })
  while (box.children.length > wanted.length) box.lastChild.remove()
}

function promptChips({ units }, texts) {
  const first = Math.max(0, units.length - PROMPT_CHIPS)
  const nodes = []
  if (first > 0) nodes.push(element("span", { className: "chip prompt more", textContent: `… ${units[first][1]}` }))
  units.slice(first).forEach(([label, position, special], i, shown) => {
    const title = fill(texts.chip, { label: isolate(label), position })
    const node = element("span", { className: "chip prompt", title, textContent: label })
    node.classList.toggle("special", special)
    if (i === shown.length - 1) node.dataset.frame = "0"
    nodes.push(node)
  })
  return nodes
}

function drawnChip(frame, number, { texts }, theme) {
  const color = rampColor(theme.sequential, TINT * frame.probability)
  const probability = shareText(frame.probability, texts)
  const words = fill(texts.chip_drawn, {
    label: isolate(frame.label), position: frame.position, probability, rank: wholeNumber(frame.rank),
  })
  const node = element("button", { type: "button", className: "chip drawn", "data-frame": number, title: words })
  node.textContent = frame.label
  node.setAttribute("aria-label", words)
  node.style.setProperty("--tint", css(color))
  node.style.setProperty("--ink", css(inkOn(color)))
  node.classList.toggle("special", frame.special)
  node.classList.toggle("forced", frame.how === "forced")
  return node
}

// Scroll a chip's line into the box; scrollIntoView would move the whole page.
function reveal(box, node) {
  const frame = box.getBoundingClientRect()
  const { top, bottom } = node.getBoundingClientRect()
  if (top < frame.top || bottom > frame.bottom) box.scrollTop += (top + bottom) / 2 - (frame.top + frame.bottom) / 2
}
