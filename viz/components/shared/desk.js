// What a component asks the server for by HTTP, beside the runs of its page; see jobs/tile_tickets.py.

/** @typedef {{ bytes?: ArrayBuffer, refused?: boolean, none?: boolean }} Answer */

// A map or a part of one: { bytes }, { refused } where the ticket is not valid, { none } where there is no such part, or
// {} for now. The first page has no name of its own: its address is `base`, below which the server stands, or nothing.
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
    return {} // aborted, or the server is not there
  }
}
