// Find the glossary's words in text.

/** @import { GlossaryTerm } from "./types" */

const LETTER = "[\\p{L}\\p{N}_]"
const HAN = "\\p{Script=Han}"
const OF_HEADS = `(?<!${LETTER})L\\d+H\\d+(?!${LETTER})` // for example L6H4
export const A_HEAD = "l6h4" // the glossary entry that explains all of these
const CJK = /^[\p{Script=Han}]/u

// Match whole words, not parts of longer ones. Chinese has no spaces between words, and almost every character is part
// of many words: 值 means a value in "值 Value", but not in 数值 or 值得.
/** @type {(names: string[]) => RegExp} */
export function wordsOf(names) {
  const escaped = [...names].sort((a, b) => b.length - a.length).map((name) => {
    const literal = name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
    const sign = CJK.test(name) && name.length === 1 ? HAN : LETTER
    return sign === LETTER && (CJK.test(name) || !/^[\p{L}]/u.test(name)) ? literal : `(?<!${sign})${literal}(?!${sign})`
  })
  return new RegExp([...escaped, OF_HEADS].join("|"), "giu")
}

// The name of a found word in the list of terms.
/** @type {(word: string) => string} */
export const nameOf = (word) => (/^l\d+h\d+$/i.test(word) ? A_HEAD : word.toLowerCase())

// If two terms have the same name, the first one in the list keeps it.
/** @type {(terms: GlossaryTerm[]) => Map<string, GlossaryTerm>} */
export function termsByName(terms) {
  /** @type {Map<string, GlossaryTerm>} */
  const found = new Map()
  for (const term of terms) for (const name of term.names) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), term)
  return found
}
