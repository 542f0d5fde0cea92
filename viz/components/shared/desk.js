// Requests of a component to the server over HTTP, independent of page runs; see jobs/tile_tickets.py.

/** @typedef {{ bytes?: ArrayBuffer, refused?: boolean, none?: boolean }} Answer */

// Fetch a map or a part of one. Returns { bytes }, { refused } if the ticket is not valid, { none } if there is no such
// part, or {} if the request was aborted or failed. The first page has no name of its own: its URL path is `base`, the
// server's base path, or empty.
/** @type {(ticketed: { ticket: string, base?: string }, place: string, signal?: AbortSignal) => Promise<Answer>} */
export async function ask({ ticket, base = "" }, place, signal) {
  const here = new URL(location.href)
  const path = here.pathname.replace(/\/+$/, "")
  here.pathname = path === base ? `${base}/` : path
  try {
    const answer = await fetch(new URL(`maps/${place}`, here), { signal, headers: { "x-atlas-ticket": ticket } })
    if (answer.ok) return { bytes: await answer.arrayBuffer() }
    return { refused: answer.status === 403, none: answer.status === 404 }
  } catch {
    return {} // aborted, or the server cannot be reached
  }
}
