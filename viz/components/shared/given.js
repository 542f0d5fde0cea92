// An event on the window: another component has fetched a figure's data before the page has run. Without bytes nothing
// was found, and the figure waits for the page's own answer.

export const GIVEN = "atlas-given"

/** @typedef {{ figure: string, of: number[], bytes?: Uint8Array }} Given */
