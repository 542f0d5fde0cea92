// What another component was given for a figure, before the page itself has run: dispatched on the window. Without
// bytes there is nothing, and the page's own answer is to be waited for.

export const GIVEN = "atlas-given"

/** @typedef {{ figure: string, of: number[], bytes?: Uint8Array }} Given */
