// The page on a student's phone. It asks for a code, joins the room, and shows what comes; a lost connection is
// retried, at first soon, then less often, and at once when the phone wakes up.

import { element } from "../components/shared/dom.js"
import { hold } from "./answering.js"
import { keep, known, nameIn } from "./kept.js"
import { createLine, heard, look, lost } from "./line.js"
import { showOwn } from "./own.js"
import { createStage, pointAt, showFigure, showStage } from "./stage.js"
import { createVote, showCompleted, showPoll, showProblem, showVoted } from "./vote.js"

const SOONEST = 500 // milliseconds before the next retry,
const LATEST = 4000 // twice as many after each, up to this
const OPENING = 10_000 // milliseconds to open a connection and receive the first message

const root = document.body.dataset.root ?? ""
const words = /** @type {Record<string, string>} */ (JSON.parse(document.body.dataset.words ?? "{}"))
const [head, main] = ["head", "main"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)))
const code = decodeURIComponent(location.pathname.split("/join/")[1] ?? "")

const talk = { socket: /** @type {WebSocket | null} */ (null), tries: 0, timer: 0, over: false }

if (code) enter()
else askForCode()

function askForCode(problem = "") {
  const field = element("input", { className: "code", name: "code", maxlength: "12", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", required: "" })
  const form = element("form", {}, element("label", {}, words.code, field), element("button", { type: "submit", className: "first", textContent: words.join }))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const typed = field.value.replaceAll(/[\s-]/g, "").toUpperCase()
    if (typed) location.assign(`${root}/join/${encodeURIComponent(typed)}${location.search}`)
  })
  head.replaceChildren(element("h1", { textContent: document.title }))
  main.replaceChildren(form, element("p", { className: "quiet", textContent: words.six }), element("p", { className: "problem", role: "alert", textContent: problem }))
}

// ---- in the room ----------------------------------------------------------------------------------------------------

function enter() {
  const status = element("span", { className: "state", role: "status", textContent: words.connecting })
  const wander = element("a", { textContent: words.wander, hidden: true })
  const spoken = element("p", { className: "spoken", role: "status" }) // a new question, for screen readers
  const line = createLine(words, () => send({ kind: "alive" }), () => drop(room))
  const room = { status, wander, spoken, line, here: false, stage: createStage(root), vote: createVote(words, send, nameIn(code)) }
  head.replaceChildren(element("h1", { textContent: code.toUpperCase() }), status, wander, spoken)
  main.replaceChildren(line.box, room.vote.box, room.stage.box)
  const again = () => (talk.socket?.readyState === WebSocket.OPEN ? look(line) : connect(room))
  addEventListener("offline", () => {
    lost(line)
    line.timer = setTimeout(() => look(line), OPENING) // a server on this very machine is available
  })
  addEventListener("online", again)
  addEventListener("pageshow", again)
  document.addEventListener("visibilitychange", () => document.hidden || again())
  connect(room)
}

// Whether there is a connection over which it can be sent.
function send(frame) {
  const open = talk.socket?.readyState === WebSocket.OPEN
  if (open) talk.socket?.send(JSON.stringify(frame))
  return open
}

function connect(room) {
  clearTimeout(talk.timer)
  if (talk.over || talk.socket?.readyState === WebSocket.CONNECTING) return
  const address = new URL(`${root}/classroom/talk${location.search}`, location.href)
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:"
  const socket = (talk.socket = new WebSocket(address))
  socket.binaryType = "arraybuffer"
  room.here = false
  let answered = false
  talk.timer = setTimeout(() => socket === talk.socket && !answered && drop(room), OPENING)
  socket.addEventListener("open", () => {
    hold(room.vote)
    send({ kind: "join", code, born: known(code, "born") ?? "" })
  })
  socket.addEventListener("message", ({ data }) => {
    answered = true
    if (socket === talk.socket) hear(room, data)
  })
  socket.addEventListener("close", () => !talk.over && socket === talk.socket && retry(room))
}

// A connection without messages may not report that it is closed, either.
function drop(room) {
  const silent = talk.socket
  talk.socket = null
  silent?.close()
  if (!talk.over) retry(room)
}

function retry(room) {
  lost(room.line)
  room.status.textContent = ""
  clearTimeout(talk.timer)
  talk.timer = setTimeout(() => connect(room), Math.min(LATEST, SOONEST * 2 ** talk.tries) * (0.75 + Math.random() / 2))
  talk.tries += 1
}

function hear(room, data) {
  heard(room.line, room.here)
  if (typeof data !== "string") {
    const length = new DataView(data).getUint32(0, true)
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)))
    showFigure(room.stage, told, new Uint8Array(data, 4 + length))
    return
  }
  const told = JSON.parse(data)
  const show = SHOW[told.kind]
  if (show) show(room, told)
}

// What the phone does not show of a page, in a sentence; a question to the class is shown completely.
function restOf({ title, page, address, figures }) {
  if (!title) return words.waiting
  if (page === "first") return words.first
  if (page === "poll" || !address) return ""
  return (!figures.length ? words.only_there : words.more).replace("{wander}", () => words.wander)
}

const SHOW = {
  here(room, { born }) {
    talk.tries = 0
    room.here = true
    heard(room.line, true)
    keep(code, "born", born)
  },
  waits: (room) => (room.status.textContent = words.waits),
  stage(room, told) {
    room.status.textContent = ""
    showStage(room.stage, told, restOf(told))
    room.wander.hidden = !told.address
    if (told.address) room.wander.href = `${root}${told.address}`
  },
  poll: (room, told) => {
    if (showPoll(room.vote, told)) room.status.textContent = words.late
    room.stage.box.hidden = told.state === "open"
    showOwn(room.stage, room.vote)
    const asked = told.state === "open" ? [told.question, told.again ? words.again : ""].join(" ").trim() : ""
    if (room.spoken.textContent !== asked) room.spoken.textContent = asked
  },
  point: (room, told) => pointAt(room.stage, told),
  voted(room, told) {
    showVoted(room.vote, told)
    showOwn(room.stage, room.vote)
  },
  completed: (room, told) => showCompleted(room.vote, told),
  refused(room, told) {
    if (told.last) leave(told.words)
    else if (room.vote.box.hidden) room.status.textContent = told.words
    else showProblem(room.vote, told.words)
  },
  ended: () => leave(words.ended),
}

// The end of the room, or of an attempt with an invalid code.
function leave(sentence) {
  talk.over = true
  history.replaceState(null, "", `${root}/join${location.search}`)
  askForCode(sentence)
}
