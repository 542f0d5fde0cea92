const SCALE = 2

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".save-picture")
  const state = stateOf(root, create)
  state.meta = unpack(data).meta
  state.button.textContent = state.meta.label
  state.note.textContent = ""
  readTheme(root)
  markPainted(root)
  return state.dispose
}

function create(root) {
  const button = element("button", { type: "button" })
  const note = element("p", { role: "status", hidden: true })
  root.append(button, note)
  const state = { button, note, meta: null }
  const stop = watchLayout(root, () => readTheme(root))
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
  state.dispose = () => {
    stop()
    root.replaceChildren()
    root.atlas = undefined
  }
  return state
}

async function toPng(svg) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = element("canvas", { width: image.naturalWidth * SCALE, height: image.naturalHeight * SCALE })
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
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
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000) // the download reads the blob after the click returns
}
