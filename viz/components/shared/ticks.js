// Choose which ticks and labels to draw when there is no room for all.

// Label every unit, or every second, fifth, tenth, …: the smallest step that leaves each label enough room.
/** @type {(room: number, pitch: number) => number} */
export function stepOf(room, pitch) {
  for (let power = 1; ; power *= 10) {
    for (const step of [power, 2 * power, 5 * power]) if (step * pitch >= room) return step
  }
}

// The same for heads and layers, whose counts are often powers of two: steps of 1, 2, 4, 5, 8, 10, 16, 20 or 32.
/** @type {(room: number, pitch: number) => number} */
export const thinning = (room, pitch) => [1, 2, 4, 5, 8, 10, 16, 20].find((every) => every * pitch >= room) ?? 32

// Round numbers from low to high, at most `most` of them.
/** @type {(low: number, high: number, most: number) => number[]} */
export function roundTicks(low, high, most) {
  const span = high - low
  if (!(span > 0)) return [low]
  const power = 10 ** Math.floor(Math.log10(span / most))
  const step = [1, 2, 5, 10, 20].map((part) => part * power).find((size) => span / size <= most) ?? span
  const ticks = []
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)))
  return ticks
}
