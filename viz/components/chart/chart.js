import { element, svg } from "../shared/dom.js"
import { markPainted, mounted } from "../shared/shell.js"
import { readTheme } from "../shared/theme.js"
/** @import { Host } from "../shared/types" */
/** @import { Meta, State } from "./payload" */

/** @param {Host} host */
export default function (host) {
  return mounted(host, ".chart", { create, receive, draw })
}

function create(root) {
  const legend = element("div", { className: "legend" })
  const plot = element("div", { className: "plot" })
  const below = element("div", { className: "below" })
  root.setAttribute("role", "img")
  root.append(legend, plot, below)
  return { legend, plot, below }
}

/**
 * @param {State} state
 * @param {{ meta: Meta }} payload
 */
function receive({ root, legend, plot, below }, { meta }) {
  root.setAttribute("aria-label", meta.label)
  root.style.height = `${meta.height}px`
  legend.hidden = below.hidden = !meta.below
  root.classList.toggle("bars", !meta.below)
  legend.replaceChildren(...meta.legend.map(entry))
  plot.style.marginLeft = `${meta.left}px`
  plot.replaceChildren(new DOMParser().parseFromString(meta.svg, "image/svg+xml").documentElement)
  below.textContent = meta.below
}

/** @param {State} state */
function draw({ root }) {
  readTheme(root)
  markPainted(root)
}

/** @param {Meta["legend"][number]} line */
function entry({ name, color, dash }) {
  const line = svg("path", { class: `line s${color}`, d: "M1 5h26", stroke: "currentColor", "stroke-width": 2.2, "stroke-dasharray": dash })
  return element("span", {}, svg("svg", { width: 28, height: 10 }, line), name)
}
