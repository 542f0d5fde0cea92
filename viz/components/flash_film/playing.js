// The keys of the film: to the start, back, play, next, a slider over its frames, and how fast it goes.

import { element, svg } from "../shared/dom.js"
import { fill, wholeNumber } from "../shared/words.js"

export const SPEEDS = [1, 2, 4, 8, 16, 30, 60] // frames a second
const ICONS = {
  start: "M5 4v12M15 4 8 10l7 6z",
  back: "M13 4 6 10l7 6z",
  play: "M6 3.5 16 10 6 16.5z",
  pause: "M6.5 4v12M13.5 4v12",
  step: "M7 4l7 6-7 6z",
}

const icon = (name) => svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }))

export function createKeys(act) {
  const buttons = /** @type {Record<string, HTMLButtonElement>} */ ({})
  for (const name of ["start", "back", "play", "step"]) {
    buttons[name] = element("button", { type: "button", className: name }, icon(name))
    buttons[name].addEventListener("click", () => act(name))
  }
  const slider = element("input", { type: "range", min: 0, step: 1, className: "scrub" })
  slider.addEventListener("input", () => act("scrub", Number(slider.value)))
  const place = element("span", { className: "place" })
  const speed = element("select", { className: "speed" })
  speed.addEventListener("change", () => act("speed", Number(speed.value)))
  const box = element("div", { className: "keys" }, ...Object.values(buttons), slider, place, speed)
  return { box, buttons, slider, place, speed, words: "" }
}

export function drawKeys(keys, { meta, at, last, playing, speed }) {
  const { buttons, slider } = keys
  const { texts } = meta
  const words = JSON.stringify(texts)
  if (words !== keys.words) {
    keys.words = words
    const options = SPEEDS.map((number) => element("option", { value: String(number), textContent: fill(texts.per_second, { number }) }))
    keys.speed.replaceChildren(...options)
    keys.speed.setAttribute("aria-label", texts.speed)
    slider.setAttribute("aria-label", texts.scrub)
    for (const name of ["start", "back", "step"]) nameKey(buttons[name], texts[name])
  }
  keys.speed.value = String(speed)
  const shows = playing ? "pause" : "play"
  if (buttons.play.dataset.shows !== shows) {
    buttons.play.dataset.shows = shows
    buttons.play.replaceChildren(icon(shows))
  }
  nameKey(buttons.play, texts[shows])
  buttons.start.disabled = buttons.back.disabled = at === 0
  buttons.step.disabled = at === last
  slider.max = String(last)
  slider.value = String(at)
  keys.place.textContent = fill(texts.frame, { frame: wholeNumber(at), count: wholeNumber(last) })
  slider.setAttribute("aria-valuetext", keys.place.textContent)
}

function nameKey(button, words) {
  if (button.title === words) return
  button.title = words
  button.setAttribute("aria-label", words)
}
