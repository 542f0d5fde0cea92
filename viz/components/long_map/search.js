// Searches in the text that the tokens form together, so that a word of several tokens is also found.

const AS_WRITTEN = (label) => label.replaceAll("·", " ").replaceAll("⏎", "\n")

// The text, and the token that each of its characters belongs to, computed once per text.
export function indexed(labels) {
  const parts = labels.map((label) => AS_WRITTEN(label).toLowerCase())
  const owner = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  parts.forEach((part, token) => {
    owner.fill(token, at, at + part.length)
    at += part.length
  })
  return { text: parts.join(""), owner }
}

// The last token of each match, in order; for a match that begins with a space, the token after it.
export function find({ text, owner }, words) {
  const wanted = words.toLowerCase()
  const found = []
  if (!wanted.trim()) return found
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const token = owner[at + wanted.length - 1]
    if (found.at(-1) !== token) found.push(token)
  }
  return found
}

// The next (or previous) match, wrapping around.
export function nextOf(found, at, forward) {
  if (!found.length) return null
  const later = found.findIndex((token) => token > at)
  if (forward) return found[later < 0 ? 0 : later]
  const earlier = found.findLastIndex((token) => token < at)
  return found.at(earlier < 0 ? -1 : earlier)
}
