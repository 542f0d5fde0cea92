// Runs in the page before the app's own scripts and notes, in the page's clock, when a part of it is on the screen.
// Components live in shadow roots, which an observer of the document does not see into: each is observed as it appears.
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
  // As little as possible is observed, for observing costs time, too: the page's elements until the frame is there,
  // and after that the components' counters alone.
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

  // The frame in which a change is drawn ends with this message: then it is on the screen.
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
  // Looked at in every frame: a page's own words are in no component.
  const framed = (holds) =>
    new Promise((resolve) => {
      const look = () => (holds() ? afterPaint(resolve) : requestAnimationFrame(look))
      look()
    })
  const painted = (selector) => Number(find(selector)?.dataset.painted ?? 0)
  // What the grid shows, in one number: thumbnails of another text add up to another sum.
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
    // Arm before an input: the promise is of the milliseconds from the latest input to the picture it asked for.
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
