// The side panel: the thumbnail, the buttons, the search, the largest weights between distant tokens, and the pinned
// text.

import { ask } from "../shared/desk.js"
import { element } from "../shared/dom.js"
import { mayChoose } from "../shared/follow.js"
import { fill, formatNumber, isolate, wholeNumber } from "../shared/words.js"
import { AGAIN } from "./tiles.js"

const BESIDE = 7 // tokens on either side of one that is read

export function createSide() {
  const button = (glyph) => element("button", { type: "button", textContent: glyph })
  const parts = {
    mini: element("canvas", { role: "img" }),
    closer: button("+"), farther: button("−"), whole: button("⤢"),
    words: element("input", { type: "search", autocomplete: "off", spellcheck: "false" }),
    count: element("span", { className: "count" }), before: button("‹"), after: button("›"),
    looks: element("div", { className: "looks" }), heading: element("p"),
    reading: element("div", { className: "reading" }),
  }
  const tools = element("div", { className: "tools" }, parts.closer, parts.farther, parts.whole)
  const search = element("div", { className: "search" }, parts.words, parts.before, parts.after, parts.count)
  const top = element("div", { className: "top" }, parts.mini, element("div", {}, tools, search))
  const side = element("div", { className: "side" }, top, parts.reading, parts.heading, parts.looks)
  return { side, parts }
}

export function nameSide({ parts }, meta) {
  const { texts } = meta
  const names = [["closer", "zoom_in"], ["farther", "zoom_out"], ["whole", "whole"], ["before", "before"], ["after", "after"], ["mini", "mini"]]
  for (const [part, name] of names) {
    parts[part].title = texts[name]
    parts[part].setAttribute("aria-label", texts[name])
  }
  parts.words.placeholder = texts.search
  parts.words.setAttribute("aria-label", texts.search)
  parts.heading.textContent = fill(texts.looks, { n: wholeNumber(meta.far) })
}

// The largest weights between distant tokens, requested once per head; a click goes there.
export async function showLooks(state, go) {
  const { meta, parts, store } = state
  const wanted = `${meta.ticket} ${meta.layer} ${meta.head} ${meta.far} ${meta.texts.look}`
  if (state.looksOf === wanted || !meta.ticket) return
  state.looksOf = wanted
  parts.looks.replaceChildren(element("p", { textContent: meta.texts.wait }))
  const { bytes, none } = await ask(meta, `far/${meta.layer}/${meta.head}/${meta.far}`)
  if (state.looksOf !== wanted || store.closed) return
  if (!bytes && !none) { // not now
    setTimeout(() => {
      if (state.looksOf !== wanted || store.closed) return
      state.looksOf = ""
      showLooks(state, go)
    }, AGAIN)
    return
  }
  const looks = bytes ? JSON.parse(new TextDecoder().decode(bytes)) : []
  const rows = looks.map(({ query, key, weight }) => {
    const words = fill(meta.texts.look, {
      query: isolate(meta.labels[query]), key: isolate(meta.labels[key]), value: formatNumber(weight, "percent", meta.texts),
      distance: wholeNumber(Math.abs(query - key)),
    })
    const row = element("button", { type: "button", textContent: words, "data-look": `${query},${key}` })
    row.addEventListener("click", () => go([query, key]))
    return row
  })
  parts.looks.replaceChildren(...(rows.length ? rows : [element("p", { textContent: meta.texts.no_looks })]))
  markLook(state)
}

// The pinned cell, however it was chosen.
export function markLook({ parts, selected }) {
  for (const row of parts.looks.querySelectorAll("[data-look]")) {
    if (selected && row.dataset.look === selected.join()) row.setAttribute("aria-current", "true")
    else row.removeAttribute("aria-current")
  }
}

// The text around the two tokens of a cell.
export function showReading(state) {
  const { meta, parts, selected, hovered } = state
  const cell = hovered ?? selected
  const line = (name, token) => {
    if (token === null || token === undefined) return ""
    const label = element("b", { textContent: isolate(meta.labels[token]) })
    const written = (from, to) => meta.labels.slice(Math.max(0, from), to).join("").replaceAll("·", " ").replaceAll("⏎", " ")
    const place = element("span", { className: "place", textContent: `${meta.texts[`axis_${name}`]} · ${wholeNumber(token)}` })
    return element("p", { className: name }, place, `… ${written(token - BESIDE, token)}`, label, `${written(token + 1, token + 1 + BESIDE)} …`)
  }
  const shown = cell ? [line("query", cell[0]), line("key", cell[1])] : [element("p", { className: "quiet", textContent: mayChoose(state) ? meta.texts.hint : "" })]
  parts.reading.replaceChildren(...shown)
}
