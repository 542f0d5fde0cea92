// What the teacher shows: title, text, and the figures, each drawn by its component with the bytes from the teacher's
// page. A component is fetched once; its data are drawn in order, whatever is fetched meanwhile.

import { element } from "../components/shared/dom.js"
import { markOwn } from "./own.js"

/** @import { Root } from "../components/shared/types" */
/** @typedef {{ box: HTMLElement, name: HTMLElement, host: HTMLElement, component: string, done: Promise<any>, since: object, cleanup: (() => void) | null }} Figure */

/** @typedef {{ draw: Function, html: string, sheet: CSSStyleSheet }} Part */

const SHORT = 100 // characters that are surely no more than three lines of a phone, wide ones too

/** @type {Map<string, Promise<Part>>} */
const parts = new Map()

/** @param {string} root */
export function createStage(root) {
  const title = element("h2", { hidden: true }) // nothing is shown yet
  const text = element("div", { className: "text" })
  const changed = element("p", { className: "changed" })
  const words = element("p", { className: "words", hidden: true })
  const figures = element("div", { className: "figures" })
  const own = element("p", { className: "own" }) // this phone's answer, at the reveal
  const caption = element("p", { className: "caption" })
  const rest = element("p", { className: "quiet rest" })
  const box = element("section", {}, title, words, text, changed, own, figures, caption, rest)
  const held = /** @type {Map<string, Figure>} */ (new Map())
  return { root, box, title, words, text, changed, figures, own, mine: { mine: "", first: "" }, caption, rest, held, address: "" }
}

// Title and text, and which figures there are, in order; others are removed. `rest`: what else the page has.
export function showStage(stage, { title, subtitle, words, text, changed, caption, figures, address }, rest) {
  stage.title.hidden = !title
  stage.title.replaceChildren(title, element("span", { textContent: subtitle ?? "" }))
  const [name, ...said] = (words ?? "").split("\n\n") // of a lesson's step
  stage.words.replaceChildren(element("b", { textContent: name }), `\n${said.join("\n\n")}`)
  stage.words.hidden = !words
  showText(stage.text, text ?? "")
  stage.changed.textContent = changed ?? "" // what the model is changed by
  stage.caption.textContent = figures.length ? (caption ?? "") : ""
  stage.rest.textContent = rest
  if (address) stage.address = address
  for (const [key, figure] of stage.held) {
    if (figures.includes(key)) continue
    stage.held.delete(key)
    figure.box.remove()
    figure.done.then(() => figure.cleanup?.())
  }
  inOrder(stage.figures, figures.flatMap((key) => stage.held.get(key)?.box ?? []))
}

// A box that is in its place already is not moved, since that would reset its scroll position.
/** @type {(parent: HTMLElement, boxes: HTMLElement[]) => void} */
function inOrder(parent, boxes) {
  boxes.forEach((box, i) => {
    if (parent.children[i] !== box) parent.insertBefore(box, parent.children[i] ?? null)
  })
}

// The pictures come first: a long text is cut to three lines until it is opened, and stays open as long as it is the
// same.
function showText(box, text) {
  if (box.textContent === text) return
  const whole = element("span", { textContent: text })
  box.replaceChildren(isLong(text) ? element("details", {}, element("summary", {}, whole)) : whole)
}

/** @type {(text: string) => boolean} */
const isLong = (text) => text.length > SHORT || text.split("\n").length > 3

// New data of a figure; `adds` to the earlier data, or replaces them. A user who reconnected has the earlier data
// already.
export function showFigure(stage, { key, title, beside, component, version, adds }, packed) {
  let figure = stage.held.get(key)
  if (figure && figure.component !== `${component} ${version}`) {
    figure.box.remove()
    figure = undefined
  }
  if (!figure) {
    const host = element("div")
    const name = element("h3")
    const box = element("div", { className: `figure of-${component}`, "data-key": key }, name, host)
    host.attachShadow({ mode: "open" })
    stage.figures.append(box)
    figure = { box, name, host, component: `${component} ${version}`, done: Promise.resolve(), since: {}, cleanup: null }
    stage.held.set(key, figure)
  }
  const drawn = /** @type {Figure} */ (figure)
  drawn.name.replaceChildren(title && `${title} `, element("span", { textContent: beside }))
  drawn.name.hidden = !title && !beside
  const data = inflated(packed)
  const part = fetched(stage.root, component, version)
  // in order; data replaced meanwhile are not drawn at all
  if (!adds) drawn.since = {}
  const { since } = drawn
  drawn.done = drawn.done.then(async () => {
    const [{ draw, html, sheet }, bytes] = await Promise.all([part, data])
    if (since !== drawn.since) return
    fill(drawn, html, sheet)
    const before = drawn.cleanup
    const parentElement = drawn.host.shadowRoot
    drawn.cleanup = draw({ data: bytes, parentElement, follows: true, setTriggerValue: () => {} })
    before?.()
    markOwn(stage, drawn)
    drawn.box.dataset.drawn = String(Number(drawn.box.dataset.drawn ?? 0) + 1)
  }).catch((error) => console.error(error))
}

// What the teacher points at in a figure, once it is drawn.
export function pointAt(stage, { key, at }) {
  const figure = stage.held.get(key)
  if (!figure) return
  figure.done.then(() => {
    for (const node of /** @type {ShadowRoot} */ (figure.host.shadowRoot).children) /** @type {Root} */ (node).atlas?.follow(at)
  })
}

// The component's root element, made once, so that the cleanup of earlier data does not remove what newer data draw.
function fill({ host }, html, sheet) {
  const shadow = host.shadowRoot
  if (shadow.childElementCount) return
  shadow.adoptedStyleSheets = [sheet]
  shadow.append(...new DOMParser().parseFromString(html, "text/html").body.children)
}

/** @type {(root: string, component: string, version: string) => Promise<Part>} */
function fetched(root, component, version) {
  const name = `${root}/classroom/part/${version}/${component}`
  const part = parts.get(name) ?? fetchPart(name)
  parts.set(name, part)
  return part
}

async function fetchPart(name) {
  const read = async (kind) => (await fetch(`${name}.${kind}`)).text()
  const [module, html, css] = await Promise.all([import(`${name}.js`), read("html"), read("css")])
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  return { draw: module.default, html, sheet }
}

async function inflated(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
