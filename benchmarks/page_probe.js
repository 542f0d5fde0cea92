// Runs in the page before the app's own scripts and records, on the page's clock, when parts of it are on the screen.
// Components are in shadow roots, which an observer of the document does not see: each is observed when it is attached.
;(() => {
  const roots = /** @type {(Document | ShadowRoot)[]} */ ([document])
  const waiting = new Map() // name -> [condition, resolve]
  let input = 0

  const answer = () => {
    for (const [name, [holds, resolve]] of waiting) {
      if (!holds()) continue
      waiting.delete(name)
      afterPaint(resolve)
    }
  }
  // Observe as little as possible, since observing takes time, too: the page's elements until the frame is there, and
  // after that only the components' counters.
  const frame = new MutationObserver(() => {
    answer()
    if (!waiting.has("frame")) frame.disconnect()
  })
  frame.observe(document, { subtree: true, childList: true })
  const counters = new MutationObserver(answer)
  const watch = (/** @type {Node} */ root) => counters.observe(root, { subtree: true, attributeFilter: ["data-painted"] })
  const attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    roots.push(root)
    watch(root)
    return root
  }

  // This message arrives after the frame that draws the change: then the change is on the screen.
  const afterPaint = (then) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => then(performance.now())
      channel.port2.postMessage(0)
    })

  const find = (selector) => {
    for (const root of roots) {
      const found = root.querySelector(selector)
      if (found && found.isConnected) return found
    }
    return null
  }
  const when = (name, holds) => new Promise((resolve) => waiting.set(name, [holds, resolve]))
  // Checked in every frame, since the page's own text is not in a component.
  const framed = (holds) =>
    new Promise((resolve) => {
      const look = () => (holds() ? afterPaint(resolve) : requestAnimationFrame(look))
      look()
    })
  const painted = (selector) => Number(find(selector)?.dataset.painted ?? 0)
  // A hash of the grid's thumbnails, which differs for another text.
  const shown = () => find(".head-grid")?.atlas?.thumbnails?.reduce((sum, value, i) => (sum * 31 + value + i) | 0, 7)

  for (const kind of ["click", "keydown"])
    addEventListener(kind, (event) => (input = event.timeStamp), { capture: true })

  const shows = (selector) => (document.querySelector(selector)?.offsetHeight ?? 0) > 0
  const opened = {
    frame: when("frame", () => shows("[data-testid=stSidebar] .atlas-name") && shows(".atlas-title")),
    map: when("map", () => painted(".head-map") > 0),
    heads: when("heads", () => painted(".head-grid") > 0 && painted(".head-map") > 0),
    verified: framed(() => shows(".atlas-badge.ok")),
  }

  window.probe = {
    find,
    // Milliseconds since the epoch at which the frame, the first map, all heads or the green badge were on the screen.
    opened: async (name) => performance.timeOrigin + (await opened[name]),
    // Call before an input: the promise resolves to the milliseconds from the latest input to the picture it requested.
    head(name) {
      this.words = framed(() => document.querySelector(".atlas-head[data-finding] > span")?.textContent.startsWith(`${name} ·`)).then((at) => at - input)
      const before = painted(".head-map")
      const holds = () => painted(".head-map") > before && find(".head-map canvas").ariaLabel.startsWith(`${name}:`)
      this.answer = when("answer", holds).then((at) => at - input)
    },
    text() {
      const before = shown()
      this.answer = when("answer", () => shown() !== undefined && shown() !== before).then((at) => at - input)
    },
  }
})()
