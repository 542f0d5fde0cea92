// What step_by_step.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"
import type { Chain, Numbers, Settings } from "./types"

export interface Meta {
  /** Small numbers by matrix, before the reader changed any. */
  usual: Numbers | null
  /** Those that were changed, see edits.js. */
  edits: string
  settings: Settings
  /** Of a model; −∞ is null. */
  chain: Chain | null
  step: string
  /** Results are covered. */
  ask: boolean
  texts: Texts
  /** A class follows, which can be asked for a covered number. */
  room: boolean
  /** The largest number that can be typed. */
  most: number
  palette: Palette
}
