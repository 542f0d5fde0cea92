// Finds the glossary's words in text.

/** @import { GlossaryTerm } from "./types" */

const LETTER = "[\\p{L}\\p{N}_]"
const HAN = "\\p{Script=Han}"
const OF_HEADS = `(?<!${LETTER})L\\d+H\\d+(?!${LETTER})` // as L6H4
export const A_HEAD = "l6h4" // the name under which all of these are explained
const CJK = /^[\p{Script=Han}]/u

// Words between others that are not part of longer ones. Chinese has no blanks between words, but hardly a sign that
// would not be part of many: 值 is a value in "值 Value", and in 数值 and 值得 it is none.
/** @type {(names: string[]) => RegExp} */
export function wordsOf(names) {
  const escaped = [...names].sort((a, b) => b.length - a.length).map((name) => {
    const literal = name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
    const sign = CJK.test(name) && name.length === 1 ? HAN : LETTER
    return sign === LETTER && (CJK.test(name) || !/^[\p{L}]/u.test(name)) ? literal : `(?<!${sign})${literal}(?!${sign})`
  })
  return new RegExp([...escaped, OF_HEADS].join("|"), "giu")
}

// What a word that was found is called in the list of terms.
/** @type {(word: string) => string} */
export const nameOf = (word) => (/^l\d+h\d+$/i.test(word) ? A_HEAD : word.toLowerCase())

// Of two terms with one name, the first in the list has it.
/** @type {(terms: GlossaryTerm[]) => Map<string, GlossaryTerm>} */
export function termsByName(terms) {
  /** @type {Map<string, GlossaryTerm>} */
  const found = new Map()
  for (const term of terms) for (const name of term.names) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), term)
  return found
}
