// All steps in one line, to choose from: each has a small picture of its result.

import { sizeCanvas } from "../shared/canvas.js"
import { element } from "../shared/dom.js"
import { css } from "../shared/theme.js"
import { colorOf, largestOf } from "./matrix.js"
import { titleOf } from "./named.js"
/** @import { DrawnChain } from "./types" */

const SIGNS = { x: "X", scale: "÷ √d", softmax: "softmax", mix: "· V", out: "W_O" } // the same in every language
const CELL = 8 // pixels per number

/** @type {(chain: DrawnChain, texts: Record<string, string>, choose: (id: string) => void) => { line: HTMLElement, buttons: any[] }} */
export function overview(chain, texts, choose) {
  const buttons = chain.steps.map((step) => {
    const { id, result, short } = step
    const canvas = element("canvas")
    const name = element("b", { textContent: short ?? SIGNS[id] ?? texts[`short_${id}`] ?? chain.matrices[result].name })
    const size = element("small")
    const button = element("button", { type: "button", "data-step": id, title: titleOf(step, texts) }, element("span", { className: "thumb" }, canvas), name, size)
    button.addEventListener("click", () => choose(id))
    return { id, result, button, canvas, size }
  })
  return { line: element("div", { className: "line scroller", role: "group", "aria-label": texts.way ?? "" }, ...buttons.map((one) => one.button)), buttons }
}

function paintThumb(canvas, colors) {
  const context = sizeCanvas(canvas, colors[0].length * CELL, colors.length * CELL)
  colors.forEach((row, i) => row.forEach((color, j) => {
    context.fillStyle = color
    context.fillRect(j * CELL, i * CELL, CELL - 0.5, CELL - 0.5)
  }))
}

export function paintOverview(buttons, chain, open, theme, isCovered) {
  const order = chain.steps.findIndex((step) => step.id === open)
  buttons.forEach(({ id, result, button, canvas, size }, index) => {
    const matrix = chain.matrices[result]
    const most = largestOf(matrix)
    const colors = matrix.values.map((row, i) => row.map((value, j) => css(isCovered(id, i, j) ? theme.secondary : colorOf(value, matrix, most, theme))))
    const made = `${devicePixelRatio} ${colors.join(" ")}`
    if (canvas.made !== made) paintThumb(canvas, colors) // while a slider is dragged many do not change
    canvas.made = made
    size.textContent = matrix.shape.join(" × ")
    button.setAttribute("aria-pressed", String(id === open))
    button.classList.toggle("ahead", index > order)
  })
}
