// The controls of the film: to the start, back, play, next; the slider over its frames; and how long the phases took.

import { sizeCanvas } from "../shared/canvas.js"
import { element, svg } from "../shared/dom.js"
import { css, mix } from "../shared/theme.js"
import { fill, wholeNumber } from "../shared/words.js"
import { duration, lastFrame } from "./frames.js"

const SPEEDS = [1, 2, 4, 8, 16, 30] // tokens per second
const ICONS = {
  start: "M5 4v12M15 4 8 10l7 6z",
  back: "M13 4 6 10l7 6z",
  play: "M6 3.5 16 10 6 16.5z",
  pause: "M6.5 4v12M13.5 4v12",
  step: "M7 4l7 6-7 6z",
}

const icon = (name) => svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }))

export function createTransport(act) {
  const buttons = {}
  for (const name of ["start", "back", "play", "step"]) {
    buttons[name] = element("button", { type: "button", className: name }, icon(name))
    buttons[name].addEventListener("click", () => act(name))
    if (name === "back" || name === "step") buttons[name].dataset.step = name === "step" ? "next" : "back" // a presenter's
  }
  const slider = element("input", { type: "range", min: "0", step: "1", className: "scrub" })
  slider.addEventListener("input", () => act("scrub", Number(slider.value)))
  const place = element("span", { className: "place" })
  const speed = element("select", { className: "speed" })
  speed.addEventListener("change", () => act("speed", Number(speed.value)))
  const line = element("canvas", { className: "phases", "aria-hidden": "true" })
  const track = element("div", { className: "track" }, slider, line)
  const status = element("span", { className: "status" })
  const box = element("div", { className: "transport" }, ...Object.values(buttons), track, place, speed, status)
  return { box, buttons, slider, place, speed, line, status, words: "" }
}

export function drawTransport(transport, { reel, meta, at, playing, asking, speed }, theme) {
  const { buttons, slider, place, texts = meta.texts } = transport
  const last = lastFrame(reel)
  const words = JSON.stringify([meta.texts, speed])
  if (words !== transport.words) {
    transport.words = words
    const options = SPEEDS.map((number) =>
      element("option", { value: String(number), textContent: number === 1 ? texts.one_per_second : fill(texts.per_second, { number }) }),
    )
    transport.speed.replaceChildren(...options)
    transport.speed.value = String(speed)
    transport.speed.setAttribute("aria-label", texts.speed)
    for (const name of ["start", "back", "step"]) nameButton(buttons[name], texts[name])
    slider.setAttribute("aria-label", texts.scrub)
  }
  const shows = playing ? "pause" : "play"
  if (buttons.play.dataset.shows !== shows) {
    buttons.play.dataset.shows = shows
    buttons.play.replaceChildren(icon(shows))
  }
  nameButton(buttons.play, texts[shows])
  buttons.start.disabled = buttons.back.disabled = at === 0
  buttons.step.disabled = at === last && (Boolean(meta.stop) || !meta.alive)
  buttons.play.disabled = last === 0 && (Boolean(meta.stop) || !meta.alive)
  slider.max = String(Math.max(meta.limit, last, 1))
  slider.value = String(at)
  const where = at === 0 ? texts.prompt : fill(texts.frame, { frame: at, count: Math.max(meta.limit, last) })
  slider.setAttribute("aria-valuetext", where)
  place.textContent = where
  transport.status.textContent = statusText({ reel, meta, at, asking, last })
  drawPhases(transport.line, reel, at, Number(slider.max), theme)
}

function nameButton(button, words) {
  if (button.title === words) return
  button.title = words
  button.setAttribute("aria-label", words)
}

function statusText({ reel, meta, at, asking, last }) {
  const { texts } = meta
  const parts = []
  if (meta.prefill) {
    const [count, seconds] = meta.prefill
    parts.push(fill(texts.prefill, { count: wholeNumber(count), time: duration(seconds, texts) }))
  }
  const timed = reel.frames.map((frame) => frame.seconds).filter((value) => value !== null).sort((a, b) => a - b)
  if (timed.length) parts.push(fill(texts.decode, { time: duration(timed[timed.length >> 1], texts) }))
  if (at === last && meta.stop) parts.push(texts[meta.stop])
  else if (at === last && asking) parts.push(texts.waiting)
  return parts.join(" · ")
}

// Below the slider: which frames are here, and which of them were passed.
function drawPhases(canvas, reel, at, most, theme) {
  const width = canvas.parentElement.clientWidth
  if (!width) return
  const context = sizeCanvas(canvas, width, 4)
  const thumb = 16 // the slider's thumb does not reach beyond its track, so neither does this
  const x = (frame) => thumb / 2 + (frame / most) * (width - thumb)
  context.fillStyle = css(theme.rule)
  context.fillRect(x(0), 1, x(most) - x(0), 2)
  context.fillStyle = css(mix(theme.background, theme.primary, 0.45))
  context.fillRect(x(0), 1, x(lastFrame(reel)) - x(0), 2)
  context.fillStyle = css(theme.primary)
  context.fillRect(x(0), 0, x(at) - x(0), 4)
}
