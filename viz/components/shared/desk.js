// What a component asks the server for by HTTP, beside the runs of its page; see jobs/map_desk.py.

/** @typedef {{ bytes?: ArrayBuffer, refused?: boolean }} Answer */

// A map or a part of one: { bytes }, { refused } where the ticket is not valid, or {}.
/** @type {(ticketed: { ticket: string }, place: string, signal?: AbortSignal) => Promise<Answer>} */
export async function ask({ ticket }, place, signal) {
  const here = new URL(location.href)
  here.pathname = here.pathname.replace(/\/+$/, "") || "/"
  try {
    const answer = await fetch(new URL(`maps/${place}`, here), { signal, headers: { "x-atlas-ticket": ticket } })
    if (answer.ok) return { bytes: await answer.arrayBuffer() }
    return { refused: answer.status === 403 }
  } catch {
    return {} // aborted, or the server is gone
  }
}
