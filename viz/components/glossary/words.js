// Finds the glossary's words in text.

/** @import { Term } from "./payload" */

const LETTER = "[\\p{L}\\p{N}_]"
const CJK = /^[\p{Script=Han}]/u

// Words between others that are not part of longer ones; Chinese has no blanks between words.
/** @type {(names: string[]) => RegExp} */
export function wordsOf(names) {
  const escaped = [...names].sort((a, b) => b.length - a.length).map((name) => {
    const literal = name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
    return CJK.test(name) || !/^[\p{L}]/u.test(name) ? literal : `(?<!${LETTER})${literal}(?!${LETTER})`
  })
  return new RegExp(escaped.join("|") || "(?!)", "giu")
}

// Of two terms with one name, the first in the list has it.
/** @type {(terms: Term[]) => Map<string, Term>} */
export function termsByName(terms) {
  /** @type {Map<string, Term>} */
  const found = new Map()
  for (const term of terms) for (const name of term.names) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), term)
  return found
}
