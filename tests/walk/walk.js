// Looks at a page from inside: when it came to rest, what can be done on it, and what it shows. Shadow roots included.
(() => {
  if (window.walk) return
  const UNANSWERED = 10_000 // ms; a part's tick that comes after the page it was in is answered by nothing
  const QUIET = 450 // ms; the longest of our components' and Streamlit's own pauses before they tell something
  const now = () => performance.now()
  const seen = { mutated: now(), asked: -1, whole: -1, began: -1, ended: -1, done: 0, painted: -1, painting: false, ticks: false }
  const observer = new MutationObserver(() => (seen.mutated = now()))
  const watched = { subtree: true, childList: true, attributes: true, characterData: true }
  observer.observe(document, watched)
  addEventListener("scroll", () => (seen.mutated = now()), { capture: true, passive: true }) // a part is brought into view
  const attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    observer.observe(root, watched)
    return root
  }
  const send = WebSocket.prototype.send
  const heard = new WeakSet()
  WebSocket.prototype.send = function (data) {
    if (!heard.has(this)) this.addEventListener("message", (event) => hear(fieldsOf(event.data)))
    heard.add(this)
    const rerun = fieldsOf(data).get(RERUN)
    if (rerun) Object.assign(seen, { asked: now(), ...(fieldsOf(rerun).has(PART) ? {} : { whole: now() }) })
    return send.call(this, data)
  }

  // Streamlit's messages (1.67: BackMsg.rerun_script, ForwardMsg.new_session and script_finished): a run was asked for,
  // began, ended; of the whole page, or (ClientState.fragment_id) of a part of it, which no answer to the whole one is.
  const [RERUN, PART, BEGAN, ENDED, FOR_ANOTHER, OF_A_PART] = [11, 5, 4, 6, 2, 3]

  function hear(fields) {
    if (fields.has(BEGAN)) seen.began = now()
    if (!fields.has(ENDED) || fields.get(ENDED) === FOR_ANOTHER) return
    seen.ended = now()
    seen.ticks = fields.get(ENDED) === OF_A_PART
    if (!seen.ticks) seen.done = seen.ended
  }

  // The numbers of a protobuf message's fields, with their values: whole numbers, and bytes of all else.
  function fieldsOf(data) {
    const found = new Map()
    if (typeof data === "string" || data instanceof Blob) return found
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
    let at = 0
    const whole = () => {
      let sum = 0
      for (let factor = 1; ; factor *= 128) {
        const byte = bytes[at++]
        sum += (byte & 127) * factor
        if (byte < 128) return sum
      }
    }
    while (at < bytes.length) {
      const tag = whole()
      const [field, kind] = [Math.floor(tag / 8), tag % 8]
      if (kind === 0) found.set(field, whole())
      else {
        const length = kind === 2 ? whole() : kind === 5 ? 4 : 8
        found.set(field, bytes.subarray(at, (at += length)))
      }
    }
    return found
  }

  // -- the document with its shadow roots -------------------------------------------------------------------------

  const inside = (node) => [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]
  const parentOf = (node) => node.assignedSlot ?? node.parentNode?.host ?? node.parentNode

  function* everything(node) {
    yield node
    for (const child of inside(node)) yield* everything(child)
  }

  function within(node, selector) {
    for (let one = node; one; one = parentOf(one)) if (one.matches?.(selector)) return one
    return null
  }

  const all = (selector) => [...everything(document.body)].filter((node) => node.matches?.(selector))

  function visible(node) {
    const style = getComputedStyle(node)
    const box = node.getBoundingClientRect()
    return box.width > 1 && box.height > 1 && style.visibility !== "hidden" && style.opacity !== "0" && !within(node, "[aria-hidden=true]")
  }

  function textOf(node) {
    let text = ""
    for (const one of everything(node)) {
      if (one.nodeType === Node.TEXT_NODE && !["STYLE", "SCRIPT"].includes(one.parentNode?.tagName)) text += `${one.data} `
    }
    return text.replace(/\s+/g, " ").trim()
  }

  const nameOf = (node) => (node.getAttribute("aria-label") || (node.labels?.[0] && textOf(node.labels[0])) || node.title || textOf(node) || node.name || "").slice(0, 60)

  // -- at rest ------------------------------------------------------------------------------------------------------

  const PLAYING = "[data-playing=true], [data-playing='1']"
  const WORKING = `[data-testid=stProgress], [data-testid=stSpinner], ${PLAYING}`
  const LOADING = "[data-testid=stSkeleton]" // it fades in, so it is there before it is seen
  const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))

  // What a page that rests has, in words for a walk that waited for it in vain.
  const RESTS = {
    "no run": () => document.querySelector("[data-testid=stApp]")?.getAttribute("data-test-script-state") === "notRunning",
    "a title": () => document.querySelector(".atlas-title") !== null,
    "a sidebar": () => document.querySelector("[data-testid=stSidebar][data-collapsed=true], [data-testid=stSidebar] textarea") !== null,
    "a run begun for what was asked last": () => seen.began > seen.asked || now() - seen.asked > UNANSWERED,
    "a whole run done": () => seen.done > seen.whole || now() - seen.whole > UNANSWERED,
    "the last run ended": () => seen.ended >= seen.began, "no change": () => now() - Math.max(seen.mutated, seen.ended) > QUIET, "a frame painted": painted,
  }
  const lacking = () => Object.keys(RESTS).filter((what) => !RESTS[what]())
  const atRest = () => Object.values(RESTS).every((holds) => holds())

  // A picture draws in the next frame, which a machine with much else to do can keep it waiting for.
  function painted() {
    if (seen.painted > seen.mutated) return true
    if (!seen.painting) twoFrames().then(() => Object.assign(seen, { painted: now(), painting: false }))
    seen.painting = true
    return false
  }

  // A part of the page that runs again and again while somebody looks at its work; a picture that plays and so never rests.
  const ticking = () => seen.ticks
  const playing = () => all(PLAYING).some(visible)
  const working = () => all(WORKING).some(visible) || all(LOADING).length > 0

  // -- what can be done ---------------------------------------------------------------------------------------------

  // kind → which elements; the first that fits. Nothing here names a page, so a new one is walked as it comes.
  const KINDS = {
    none: "[data-testid=stToolbar] :not([data-testid=stExpandSidebarButton], [data-testid=stExpandSidebarButton] *), [data-testid=stSelectbox] button, [data-testid=stMultiSelect] button, [data-testid=stTooltipIcon] *, [data-testid=stTooltipHoverTarget] *, [data-testid=stElementToolbar] *, .js-plotly-plot *, [data-testid=stDataFrame] *, [disabled], [aria-disabled=true]",
    link: "[data-testid=stPageLink] a",
    select: "[data-testid=stSelectbox] [role=combobox], [data-testid=stSelectbox] input",
    multiselect: "[data-testid=stMultiSelect] [role=combobox], [data-testid=stMultiSelect] input",
    slider: "[role=slider], input[type=range]",
    number: "[data-testid=stNumberInput] input, input[type=number]",
    text: "textarea, input[type=text], input[type=search], input:not([type])",
    switch: "[data-testid=stCheckbox] label, input[type=checkbox], [role=switch]",
    choose: "[role=radio], [data-testid^=stBaseButton-segmented_control]",
    native: "select",
    download: "[data-testid=stDownloadButton] button",
    open: "[data-testid=stPopover] button",
    button: "button, [role=button], summary",
    item: "[role=option], [role=treeitem], [role=listbox], [role=tree]",
    canvas: "canvas, svg[tabindex], .scroller[tabindex]",
  }

  function kindOf(node) {
    for (const [kind, selector] of Object.entries(KINDS)) if (node.matches?.(selector)) return kind === "none" ? null : kind
    return null
  }

  let found = []

  function controls() {
    const inMenu = all("[data-testid=stPopoverBody]").filter(visible)
    const roots = inMenu.length ? inMenu : [document.body]
    found = []
    for (const root of roots) {
      for (const node of everything(root)) {
        const kind = node.nodeType === Node.ELEMENT_NODE ? kindOf(node) : null
        if (!kind || !visible(node) || found.some(({ node: outer }) => kind !== "item" && outer.contains(node) && kindOf(outer) === kind)) continue
        const label = within(node, "[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stSlider], [data-testid=stNumberInput], [data-testid=stTextInput], [data-testid=stTextArea], [data-testid=stButtonGroup]")
        found.push({ node, kind, option: textOf(node).slice(0, 60), name: (label && textOf(label.querySelector("label") ?? label).slice(0, 30)) || nameOf(node), key: keyOf(node) })
      }
    }
    return found.map(({ kind, name, key, option }, index) => ({ index, kind, name, key, option }))
  }

  // The key of Streamlit's widget, or the class of our component: what groups controls of one kind.
  function keyOf(node) {
    const keyed = within(node, "[class*='st-key-']")
    return keyed ? [...keyed.classList].find((one) => one.startsWith("st-key-")).slice(7) : ""
  }

  function under(x, y) {
    let hit = document.elementFromPoint(x, y)
    while (hit?.shadowRoot) {
      const deeper = hit.shadowRoot.elementFromPoint(x, y)
      if (!deeper || deeper === hit) break
      hit = deeper
    }
    return hit
  }

  // Where on the screen a control can be clicked, at these shares of its width and height; null where something else
  // lies over it.
  async function reach(index, across, down) {
    const { node } = found[index]
    if (!node.isConnected) return null
    node.scrollIntoView({ block: "center", inline: "nearest" })
    await twoFrames() // a list closes when its page is still being scrolled
    const box = node.getBoundingClientRect()
    const x = Math.floor(Math.max(box.left, 0) + across * (Math.min(box.right, innerWidth) - Math.max(box.left, 0)))
    const y = Math.floor(Math.max(box.top, 0) + down * (Math.min(box.bottom, innerHeight) - Math.max(box.top, 0)))
    const hit = under(x, y)
    for (let one = hit; one; one = parentOf(one)) if (one === node) return { x, y }
    const label = hit && within(hit, "label")
    if (label && label.contains(node)) return { x, y }
    const box2 = within(node, "[data-baseweb=select], [data-baseweb=input], [data-baseweb=slider]")
    return box2 && hit && box2.contains(hit) ? { x, y } : null
  }

  // What a control is set to, in the words of the screen.
  function value(index) {
    const { node, kind } = found[index]
    if (!node.isConnected) return null
    if (kind === "choose") return node.getAttribute("aria-checked")
    return node.value ?? node.getAttribute("aria-valuenow") ?? null
  }

  // The same when it was drawn: a slider that another holds back shows for a moment where it was pulled, and a film steps
  // to a frame once that is there.
  async function settled(index) {
    const { node } = found[index]
    const began = now()
    const there = async () => {
      await twoFrames()
      if (node.closest("[data-stepping=true]") && now() - began < UNANSWERED) await there()
    }
    await there()
    return value(index)
  }

  // The least and the most that a box for numbers takes; without such an end, one far away.
  function bounds(index) {
    const end = (name, far) => {
      const given = found[index].node.getAttribute(name) ?? found[index].node.getAttribute(`aria-value${name}`)
      return given === null || given === "" ? far : Number(given)
    }
    return [end("min", -1e9), end("max", 1e9)]
  }

  const focus = (index) => (found[index].node.focus(), found[index].node === found[index].node.getRootNode().activeElement)

  // -- what is shown ------------------------------------------------------------------------------------------------

  const LEFT_OUT = ".st-key-room_box, .st-key-room_closed, style, script, [data-testid=stPopoverBody], [data-testid=stToolbar], [data-testid=stAlert], [data-testid=stTooltipContent], [data-baseweb=tooltip], .tooltip, [aria-hidden=true], .visually-hidden, [aria-live], [data-testid=InputInstructions]"

  function hashOf(canvas) {
    const text = canvas.toDataURL()
    let hash = 0
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
    return hash.toString(16)
  }

  // Every line is [where, what]: words, what controls are set to, what pictures say of themselves and how they look.
  function snapshot() {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    const lines = []
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        const text = node.data.replace(/\s+/g, " ").trim()
        if (text) lines.push([keyOf(node.parentNode) || "", text])
        return
      }
      if (node.nodeType !== Node.ELEMENT_NODE && !(node instanceof ShadowRoot)) return
      if (node.matches?.(LEFT_OUT)) return
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (!node.checkVisibility?.()) return
        const key = keyOf(node)
        for (const name of ["aria-label", "aria-checked", "aria-selected", "aria-pressed", "aria-valuenow", "aria-current", "title"]) {
          const text = node.getAttribute(name)
          if (text && !(name === "title" && within(node, "button"))) lines.push([key, `${name}: ${text}`])
        }
        if (node.matches("input, textarea, select")) lines.push([key, `value: ${node.type === "checkbox" ? node.checked : node.value}`])
        if (node.matches("canvas")) lines.push([key, `pixels: ${node.width}×${node.height} ${hashOf(node)}`])
      }
      for (const child of inside(node)) walk(child)
    }
    const app = document.querySelector("[data-testid=stApp]")
    if (app) walk(app)
    return lines
  }

  const alerts = () =>
    all("[data-testid=stAlertContainer]").filter(visible).map((node) => {
      const kind = ["Error", "Warning", "Info", "Success"].find((one) => node.querySelector(`[data-testid=stAlertContent${one}]`))
      return [kind ?? "Error", textOf(node)]
    })

  const exceptions = () => all("[data-testid=stException]").filter(visible).map(textOf)

  // The head that is open in the strip of the model; not a page's own layer, nor the head of another model than the open one.
  const strip = () => (location.pathname.endsWith("/families") ? [] : all(".model-strip[data-picks=here]").map((node) => node.dataset.place))

  const texts = (selector) => all(selector).filter(visible).map(textOf)
  const labels = (selector) => all(selector).filter(visible).map((node) => node.getAttribute("aria-label") ?? "")

  // The words of what is chosen in a row of segments.
  const checked = (key) => all(`.st-key-${key} [role=radio][aria-checked=true]`).filter(visible).map(textOf)

  const rows = (selector) => all(selector).filter(visible).map((table) => [...table.querySelectorAll("tbody tr")].map(textOf))

  window.walk = { checked, rows, ticking, playing, atRest, lacking, working, controls, reach, value, settled, bounds, focus, snapshot, alerts, exceptions, strip, texts, labels, textOf }
})()
