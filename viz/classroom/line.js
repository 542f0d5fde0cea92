// Checks the connection: the server is pinged now and then, and a missing reply is shown.

import { element } from "../components/shared/dom.js"

const ASK_EACH = 8000 // milliseconds after the last message from the server before a ping
const ANSWERS_IN = 1500 // milliseconds to wait for the reply

/** @typedef {{ box: HTMLElement, words: Record<string, string>, ask: () => boolean, again: () => void, shown: boolean, timer: number }} Line */

/**
 * @param {Record<string, string>} words
 * @param {() => boolean} ask the server for a word; whether there is a connection to do so
 * @param {() => void} again connects anew
 * @returns {Line}
 */
export function createLine(words, ask, again) {
  const box = element("p", { className: "lost", role: "status" })
  return { box, words, ask, again, shown: false, timer: 0 }
}

// A message from the server; `here`: it replies to pings.
/** @param {Line} line @param {boolean} here */
export function heard(line, here) {
  clearTimeout(line.timer)
  line.box.textContent = ""
  line.shown ||= here
  if (here) line.timer = setTimeout(() => look(line), ASK_EACH)
}

// Is it there?
/** @param {Line} line */
export function look(line) {
  clearTimeout(line.timer)
  if (document.hidden) line.timer = setTimeout(() => look(line), ASK_EACH)
  else if (line.ask()) line.timer = setTimeout(() => silent(line), ANSWERS_IN)
}

// There is no reply: the page stays as it is, and is marked as out of date.
/** @param {Line} line */
export function lost(line) {
  clearTimeout(line.timer)
  const words = line.shown ? line.words.gone : line.words.lost
  if (line.box.textContent !== words) line.box.textContent = words
}

/** @param {Line} line */
function silent(line) {
  lost(line)
  line.again()
}
