// Numbers that several modules need.

import { sharpness } from "./room.js"

/** @type {(value: number, low: number, high: number) => number} */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value))

// A length in CSS pixels, rounded down to whole screen pixels.
/** @type {(length: number) => number} */
export const wholePixels = (length) => Math.floor(length * sharpness()) / sharpness()

// Lengthen [low, high] by a share of it on both sides; a single number gets room of its own.
/** @type {(ends: [number, number], share?: number) => [number, number]} */
export function padded([low, high], share = 0.08) {
  const room = high > low ? (high - low) * share : Math.abs(high) * 0.1 || 1
  return [low - room, high + room]
}

// [smallest, largest]; [0, 0] if there are no values.
/** @type {(values: Iterable<number>) => [number, number]} */
export function extent(values) {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return low <= high ? [low, high] : [0, 0]
}
