// Walk the text of the whole page, in the document and in the shadow roots of other components.

import { nameOf } from "./words.js"

// Elements without words of the page: the reader's own text, code, tables, and inputs.
const NOT_OURS = "textarea, input, select, code, pre, bdi, script, style, table, .chip, .label, [role=option], [role=listbox], [role=treeitem], [contenteditable], [data-testid=stTextArea], [data-testid=stDataFrame], .glossary"
const LONGEST = 600 // characters of the longest text that is searched

/** @type {(node: Node) => boolean} */
export function isOurs(node) {
  for (let one = node.parentElement; one; one = one.parentElement ?? /** @type {ShadowRoot} */ (one.getRootNode()).host?.parentElement) {
    if (one.matches(NOT_OURS)) return false
  }
  return true
}

/** @type {(root: Node) => Generator<Text>} */
export function* textsIn(root) {
  for (const child of root.childNodes) {
    if (child instanceof Text) {
      if (child.data.length <= LONGEST && child.data.trim()) yield child
    } else if (child instanceof Element) {
      if (child.matches(NOT_OURS)) continue
      if (child.shadowRoot) yield* textsIn(child.shadowRoot)
      yield* textsIn(child)
    }
  }
}

/**
 * @typedef {{ name: string, range: Range }} Found
 * @type {(text: Text, words: RegExp) => Generator<Found>}
 */
export function* wordsIn(text, words) {
  for (const found of text.data.matchAll(words)) {
    const range = document.createRange()
    range.setStart(text, found.index)
    range.setEnd(text, found.index + found[0].length)
    if (found[0].length > 1 || found[0] === found[0].toLowerCase()) yield { name: nameOf(found[0]), range } // a capital U is not the term u
  }
}

// The glossary word at this point of the screen, in the innermost element there.
/** @type {(target: EventTarget, words: RegExp, x: number, y: number) => Found | null} */
export function wordAt(target, words, x, y) {
  if (!(target instanceof Element)) return null
  for (const text of target.childNodes) {
    if (!(text instanceof Text) || text.data.length > LONGEST || !isOurs(text)) continue
    for (const found of wordsIn(text, words)) {
      for (const box of found.range.getClientRects()) {
        if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) return found
      }
    }
  }
  return null
}
