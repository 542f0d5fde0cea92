import { element } from "../shared/dom.js"
import { POINTED } from "../shared/follow.js"
import { markPainted, mounted, tell } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
import { fill, wholeNumber } from "../shared/words.js"
import { forgetKey, keepKey, keptKey } from "./key.js"
/** @import { Host, Root } from "../shared/types" */
/** @import { Meta, State } from "./types" */

const SOONEST = 500 // milliseconds before the first retry of a lost connection
const LATEST = 5000
const LONGEST = 4000 // characters of a message; the server accepts 4096
const EACH = 50 // milliseconds between two messages about what is pointed at

const OPENED = /(?:^| )st-key-(\S+)/

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".room-link", { create, receive, draw, end: (state) => state.socket?.close() })
}

/**
 * @param {Root} root
 * @param {AbortSignal} signal
 */
function create(root, signal) {
  const words = element("span", { role: "status" })
  root.append(words)
  const state = /** @type {any} */ ({ words, socket: null, tries: 0, count: null, problem: "", waiting: new Map() })
  document.addEventListener(POINTED, (event) => hear(state, event), { signal })
  // closing the tab ends the room and loses unsaved answers
  addEventListener("beforeunload", (event) => state.count?.unsaved && event.preventDefault(), { signal })
  return state
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  const other = meta.key !== state.meta?.key
  state.meta = meta
  if (meta.key) keepKey(meta.key)
  else if (meta.over) forgetKey()
  else comeBack(state)
  if (other) connect(state)
}

// After a reload or a server restart (theme_switch/new_session.js), send the key to get the room back.
/** @param {State} state */
function comeBack(state) {
  const key = keptKey()
  if (key || state.meta.asks) tell(state, "back", key ?? "")
}

/** @param {State} state */
function draw(state) {
  const { root, meta, words, count, problem } = state
  readTheme(root)
  words.textContent = problem || (count ? fill(meta.texts.there, { count: wholeNumber(count.there) }) : "")
  root.dataset.there = count ? String(count.there) : ""
  root.dataset.born = meta.born
  // the page's question to the class also shows how many answered, but only as of when it was drawn
  if (count) {
    const there = Math.max(count.there, count.answered) // students who answered may have left
    for (const node of document.querySelectorAll(".class-answered")) write(node, wholeNumber(count.answered))
    for (const node of document.querySelectorAll(".class-there")) write(node, wholeNumber(there))
  }
  markPainted(root)
}

const write = (node, words) => node.textContent !== words && (node.textContent = words)

/** @param {State} state */
function connect(state) {
  state.socket?.close()
  state.socket = null
  if (!state.meta.key) return
  const address = new URL(state.meta.talk, location.href)
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:"
  const socket = (state.socket = new WebSocket(address))
  const { code, key } = state.meta
  let over = false
  socket.addEventListener("open", () => socket.send(JSON.stringify({ kind: "teach", code, key })))
  socket.addEventListener("message", ({ data }) => {
    const told = JSON.parse(data)
    if (told.kind === "count") Object.assign(state, { count: told, tries: 0, problem: "" })
    if (told.last && told.born === state.meta.born) {
      over = true
      forgetKey()
      Object.assign(state, { count: null, problem: state.meta.texts.ended })
    } // otherwise the server was restarted: the page runs by itself and then sends its key
    draw(state)
  })
  socket.addEventListener("close", () => {
    if (over || socket !== state.socket || !state.root.isConnected) return
    state.problem = state.meta.texts.lost
    draw(state)
    clearTimeout(state.asking)
    state.asking = setTimeout(() => connect(state), Math.min(LATEST, SOONEST * 2 ** state.tries))
    state.tries += 1
  })
}

// Throttled: send only the newest message of each figure, since a pointer moves more often than the screen is drawn.
/** @param {State} state */
function hear(state, event) {
  const figure = event.composedPath().map((node) => OPENED.exec(node.className?.baseVal ?? node.className ?? "")?.[1]).find(Boolean)
  if (!figure) return
  const first = !state.waiting.size
  state.waiting.set(figure, event.detail)
  if (first) setTimeout(() => pass(state), EACH)
}

/** @param {State} state */
function pass(state) {
  const open = state.socket?.readyState === WebSocket.OPEN
  for (const [figure, at] of state.waiting) {
    const frame = JSON.stringify({ kind: "point", figure, at })
    if (open && frame.length <= LONGEST) state.socket?.send(frame) // longer ones follow with the page run
  }
  state.waiting.clear()
}
