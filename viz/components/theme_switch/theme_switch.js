import { ask } from "../shared/desk.js"
import { element } from "../shared/dom.js"
import { markPainted, mounted, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { importAtRest } from "./chart_script.js"
import { closeSidebarAfterChoice } from "./narrow_sidebar.js"
import { runNewSession } from "./new_session.js"
import { focusOpenedMenus } from "./opened_menu.js"
import { followKeysOfRoom } from "./pressed_in_room.js"
import { followProjector, project, projected, showWayBack } from "./projector.js"
/** @import { Host, Root } from "../shared/types" */
/** @import { Meta, Reach, State } from "./types" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".theme-switch", { create, receive, draw })
}

/**
 * @param {Root} _root
 * @param {AbortSignal} signal
 */
function create(_root, signal) {
  focusOpenedMenus(signal)
  followKeysOfRoom(signal)
  closeSidebarAfterChoice(signal)
  const state = /** @type {any} */ ({})
  followProjector(signal, () => state.repaint?.())
  runNewSession(signal, () => tell(state, "run", true))
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  if (meta.reach) void reach(meta.reach)
  importAtRest(meta.charts, () => state.root.toggleAttribute("data-charts", true))
  state.meta = meta
  document.documentElement.lang = meta.lang
}

let worn = ""
let reached = ""

// Fetch the page's style sheet by its URL, then confirm it to the server. Until then, the server sends the style sheet
// with every run, and also arrays that the page already has: see ui/shell/sent_arrays.py.
/** @type {(reach: Reach) => Promise<void>} */
async function reach({ ticket, base, style }) {
  if (ticket === reached) return
  reached = ticket
  if (style !== worn) {
    const answer = await fetch(`${base}/${style}`)
    if (!answer.ok) return
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(await answer.text())
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    worn = style
  }
  void ask({ ticket, base }, "reached")
}

/** @param {State} state */
function draw(state) {
  const { root, meta } = state
  const { dark } = readTheme(root)
  const button = (name, current) => {
    const node = element("button", { type: "button", "aria-pressed": String(current), textContent: meta.texts[name] })
    node.dataset.choice = name
    node.addEventListener("click", () => change(meta.paths, name))
    return node
  }
  const large = element("button", { type: "button", "aria-pressed": String(projected()), textContent: meta.texts.projector, title: meta.texts.key })
  large.dataset.choice = "projector"
  large.setAttribute("aria-keyshortcuts", "P")
  large.addEventListener("click", () => project(!projected(), state.repaint))
  if (projected()) document.documentElement.dataset.projector = dark ? "dark" : "light" // the style sheet's full contrast
  showWayBack(meta.texts.leave, state.repaint)
  root.setAttribute("role", "group")
  root.setAttribute("aria-label", meta.texts.label ?? "")
  root.replaceChildren(button("light", !dark), element("span", { "aria-hidden": "true", textContent: "·" }), button("dark", dark), element("span", { "aria-hidden": "true", textContent: "·" }), large)
  root.dataset.current = dark ? "dark" : "light"
  markPainted(root)
}

// The key and the value are Streamlit 1.67's own (ACTIVE_THEME, version 2); a version that renames them ignores ours.
function change(paths, name) {
  const value = JSON.stringify(name === "dark" ? "Dark" : "Light")
  try {
    for (const path of new Set([...paths, location.pathname])) localStorage.setItem(`stActiveTheme-${path}-v2`, value)
  } catch {
    return // a browser that forbids storage keeps the system's theme; loading again would change nothing
  }
  location.reload()
}
