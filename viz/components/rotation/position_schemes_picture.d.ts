// What position_schemes.py packs; python -m scripts.picture_types wrote this file.

import type { Palette, Texts } from "../shared/types"

export interface Meta {
  schemes: SchemePicture[]
  texts: Texts
  palette: Palette
}

/** A scheme's texts and numbers. */
export interface SchemePicture {
  name: string
  label: string
  formula: string
  note: string
  enters: string
  stores: string
  depends: string
  extrapolates: string
  paper: string
  /** The curves are drawn as steps, for values that are constant over several distances. */
  steps: boolean
}
