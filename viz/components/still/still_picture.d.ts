// What still.py packs; python -m scripts.picture_types wrote this file.

import type { Still } from "./types"

export interface Meta {
  css: string
  /** Texts as they are, and [tag, attributes, children …] of each element. */
  nodes: Still[]
}
