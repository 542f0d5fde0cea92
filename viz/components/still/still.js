import { element } from "../shared/dom.js"
import { markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
/** @import { Host, Root } from "../shared/types" */
/** @import { Meta, Still, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".still", { create, receive, draw, end })
}

/** @param {Root} root */
function create(root) {
  const sheet = new CSSStyleSheet()
  const shadow = /** @type {ShadowRoot} */ (root.getRootNode())
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet]
  return /** @type {any} */ ({ sheet })
}

/** @param {State} state */
function end({ root, sheet }) {
  const shadow = /** @type {ShadowRoot} */ (root.getRootNode())
  shadow.adoptedStyleSheets = shadow.adoptedStyleSheets.filter((other) => other !== sheet)
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.sheet.replaceSync(meta.css)
  state.root.replaceChildren(...meta.nodes.map(made))
  for (const table of state.root.querySelectorAll("table")) boxed(table)
}

// A page that forbids style attributes in HTML still allows a script to set styles.
/** @type {(still: Still) => Node | string} */
function made(still) {
  if (typeof still === "string") return still
  const [tag, { style = "", ...attributes }, ...children] = still
  const node = element(/** @type {"div"} */ (tag), attributes, ...children.map(made))
  node.style.cssText = style
  return node
}

// Put a table in its own scrolling box, so that the text above and below it does not scroll.
function boxed(table) {
  if (table.closest(".atlas-wide")) return
  const box = element("div", { className: "atlas-wide" })
  table.replaceWith(box)
  box.append(table)
}

/** @param {State} state */
function draw({ root }) {
  readTheme(root)
  for (const box of /** @type {HTMLElement[]} */ ([root, ...root.querySelectorAll(".atlas-wide")])) {
    const scrolls = box.scrollWidth > box.clientWidth
    box.classList.toggle("scrolls", scrolls)
    if (scrolls) box.tabIndex = 0 // so that the keyboard can scroll it
    else box.removeAttribute("tabindex")
  }
  markPainted(root)
}
