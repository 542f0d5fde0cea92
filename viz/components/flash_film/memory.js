// The two memories: what is in the fast one, and what was moved from and to the other, compared with plain attention.

import { element } from "../shared/dom.js"
import { fill, wholeNumber } from "../shared/words.js"
import { COMPUTE, READ, heldAt, movesOf } from "./tiles.js"

const SIGNS = { l: "ℓ" }
const sign = (name) => SIGNS[name] ?? name
const SIDES = { Q: "query", K: "key", V: "value", O: "value" }

// Bytes in powers of 1024, as the pages say them: "24 KB", "1.5 MB".
/** @type {(bytes: number) => string} */
export function sizeText(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"]
  let unit = 0
  while (bytes >= 1023.5 && unit < units.length - 1) [bytes, unit] = [bytes / 1024, unit + 1]
  return `${bytes < 999.5 ? Number(bytes.toPrecision(3)) : wholeNumber(Math.round(bytes))} ${units[unit]}`
}

/** @type {(first: number, stop: number) => string} */
export const spanText = (first, stop) => (stop - first === 1 ? String(first) : `${first}–${stop - 1}`)

// "K 0–3, V 0–3 (1 KB)"
/** @type {(moves: import("./types").Move[], size: number, from: number) => string} */
export function movesText(moves, size, from) {
  const bytes = moves.reduce((sum, one) => sum + one.numbers * size, 0)
  return `${moves.map((one) => `${sign(one.name)} ${spanText(from + one.first, from + one.stop)}`).join(", ")} (${sizeText(bytes)})`
}

export function createMemory() {
  const box = element("div", { className: "memory" })
  const [sramTitle, sramBar, sramList] = ["title", "bar", "list"].map((className) => element("div", { className }))
  const [hbmTitle, hbmBars, hbmNote] = ["title", "bars", "note"].map((className) => element("div", { className }))
  box.append(element("section", { className: "sram" }, sramTitle, sramBar, sramList), element("section", { className: "hbm" }, hbmTitle, hbmBars, hbmNote))
  return { box, sramTitle, sramBar, sramList, hbmTitle, hbmBars, hbmNote }
}

export function drawMemory(memory, { meta, reel, at }) {
  const { texts, size, sram } = meta
  const held = heldAt(reel, at)
  const used = held.reduce((sum, one) => sum + one.numbers, 0)
  const room = Math.max(sram, used)
  memory.sramTitle.replaceChildren(element("b", { textContent: texts.sram }), ` ${fill(texts.room, { used: sizeText(used * size), room: sizeText(sram * size) })}`)
  const parts = held.map(({ name, numbers }) => {
    const part = element("span", { className: `part ${SIDES[name] ?? ""}` })
    part.style.width = `${(100 * numbers) / room}%`
    return part
  })
  const edge = element("span", { className: "edge" })
  edge.style.left = `${(100 * sram) / room}%`
  memory.sramBar.replaceChildren(...parts, ...(sram < room ? [edge] : []))
  const words = held.filter(({ name }) => name !== "l").map(({ name, first, stop, numbers }) => {
    const [names, all] = name === "m" ? ["m, ℓ", 2 * numbers] : [name, numbers] // one number each, side by side
    const said = ` ${spanText(meta.first + first, meta.first + stop)} · ${sizeText(all * size)}`
    return element("span", { className: SIDES[name] ?? "" }, element("b", { textContent: names }), said)
  })
  memory.sramList.replaceChildren(...(words.length ? words : [texts.empty]))
  drawMoved(memory, { meta, reel, at })
}

function drawMoved(memory, { meta, reel, at }) {
  const { texts, size } = meta
  const { n, d, dv } = reel.work
  const last = reel.kind.length - 1
  const plain = (n * (2 * d + 2 * dv) + 4 * n * n) * size
  const [moved, all] = [at, last].map((frame) => (reel.read[frame] + reel.written[frame]) * size)
  const most = Math.max(plain, all)
  memory.hbmTitle.replaceChildren(element("b", { textContent: texts.moved }))
  const bar = (name, bytes, ahead) => {
    const [full, rest] = [element("span", { className: "full" }), element("span", { className: "rest" })]
    full.style.width = `${(100 * bytes) / most}%`
    rest.style.width = `${(100 * (ahead - bytes)) / most}%`
    const line = element("span", { className: "line" }, full, rest)
    return element("div", { className: "moved" }, element("span", { className: "name", textContent: name }), line, element("span", { className: "bytes", textContent: sizeText(bytes) }))
  }
  memory.hbmBars.replaceChildren(bar(texts.tiled, moved, all), bar(texts.plain, plain, plain))
  const parts = fill(texts.plain_parts, { cells: wholeNumber(n * n), bytes: sizeText(4 * n * n * size) })
  memory.hbmNote.textContent = `${parts} ${texts.ahead}`
}

// What happens in a frame, as a sentence.
/** @type {(state: any) => string} */
export function frameText({ meta, reel, at }) {
  const { texts, size, first } = meta
  const moves = movesOf(reel, at)
  if (at === 0) return [texts.at_start, moves.length ? texts.at_start_keys : ""].join(" ")
  if (reel.kind[at] === COMPUTE) {
    const { rows, columns } = reel.plan
    const span = (block, width) => spanText(first + block * width, first + Math.min(reel.work.n, (block + 1) * width))
    return fill(texts.computing, { queries: span(reel.i[at], rows), keys: span(reel.j[at], columns) })
  }
  const said = fill(reel.kind[at] === READ ? texts.reading : texts.writing, { what: movesText(moves, size, first) })
  return at === reel.kind.length - 1 ? `${said} ${texts.done}` : said
}
