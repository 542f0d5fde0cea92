// Which tiles show what: the arithmetic of analysis/long_map.py, for the browser. Pure functions; nothing here draws.

export const SIDE = 256 // pixels of a tile

// The zoom at which a pixel is one cell.
export const lastZoom = (tokens) => Math.max(0, Math.ceil(Math.log2(tokens / SIDE)))

// Cells per side of a pixel.
export const cellsAt = (tokens, zoom) => 2 ** (lastZoom(tokens) - zoom)

// The closest zoom whose pixels are not smaller than the screen's: smaller ones could be skipped in drawing.
export function zoomFor(tokens, cellsPerPixel) {
  const zoom = Math.floor(lastZoom(tokens) - Math.log2(cellsPerPixel) + 1e-9)
  return Math.min(lastZoom(tokens), Math.max(0, zoom))
}

export const nameOf = ({ zoom, x, y }) => `${zoom}/${x}/${y}`

// The tile that shows the same `by` zooms above, and the part of its pixels: { tile, left, top, side }.
export function above({ zoom, x, y }, by) {
  const share = 2 ** by
  const tile = { zoom: zoom - by, x: Math.floor(x / share), y: Math.floor(y / share) }
  const side = SIDE / share
  return { tile, left: (x % share) * side, top: (y % share) * side, side }
}

// The tokens of a tile: { q0, k0, span }; at the text's end they reach beyond it.
export function tokensOf(tokens, { zoom, x, y }) {
  const span = SIDE * cellsAt(tokens, zoom)
  return { q0: y * span, k0: x * span, span }
}

// Tiles of a zoom that show any of the view, those nearest its middle first; without the empty half of a causal map.
export function tilesIn(view, tokens, zoom, causal) {
  const span = SIDE * cellsAt(tokens, zoom)
  const found = []
  for (let y = Math.floor(view.q0 / span); y * span < view.q1; y++) {
    for (let x = Math.floor(view.k0 / span); x * span < view.k1; x++) {
      if (!causal || x <= y) found.push({ zoom, x, y })
    }
  }
  const [q, k] = [(view.q0 + view.q1) / 2 / span - 0.5, (view.k0 + view.k1) / 2 / span - 0.5]
  const away = ({ x, y }) => (x - k) ** 2 + (y - q) ** 2
  return found.sort((a, b) => away(a) - away(b))
}

// Where a cell is in the tiles of a zoom: { tile, row, column }.
export function pixelAt(tokens, zoom, query, key) {
  const cells = cellsAt(tokens, zoom)
  const [row, column] = [Math.floor(query / cells), Math.floor(key / cells)]
  return { tile: { zoom, x: Math.floor(column / SIDE), y: Math.floor(row / SIDE) }, row: row % SIDE, column: column % SIDE }
}

// A square view of `span` tokens around a cell, inside the text.
export function viewAround(tokens, query, key, span) {
  const size = Math.min(span, tokens)
  const start = (at) => Math.min(Math.max(0, Math.round(at + 0.5 - size / 2)), tokens - size) // a whole token, as in the address
  const [q0, k0] = [start(query), start(key)]
  return { q0, q1: q0 + size, k0, k1: k0 + size }
}
