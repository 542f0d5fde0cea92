import { contextOf } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
/** @import { Host } from "../shared/types" */
/** @import { Meta, State } from "./types" */

const SCALE = 2

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".save-picture", { create, receive, draw })
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive(state, { meta }) {
  state.meta = meta
  state.button.textContent = meta.label
  state.note.textContent = ""
}

function draw({ root }) {
  readTheme(root)
  markPainted(root)
}

function create(root) {
  const button = element("button", { type: "button" })
  const note = element("p", { role: "status", hidden: true })
  root.append(button, note)
  const state = /** @type {any} */ ({ button, note, meta: null })
  button.addEventListener("click", async () => {
    button.disabled = true
    try {
      download(await toPng(state.meta.svg), state.meta.filename)
      note.hidden = true
    } catch {
      note.textContent = state.meta.failed
      note.hidden = false
    }
    button.disabled = false
  })
  return state
}

async function toPng(svg) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = element("canvas", { width: image.naturalWidth * SCALE, height: image.naturalHeight * SCALE })
    contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height)
    const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"))
    if (!png) throw new Error("the picture is larger than this browser's canvas")
    return png
  } finally {
    URL.revokeObjectURL(url)
  }
}

function download(png, filename) {
  const link = element("a", { href: URL.createObjectURL(png), download: filename })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000) // the download reads the blob after click() returns
}
