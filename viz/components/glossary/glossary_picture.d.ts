// What glossary.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"
import type { Shape } from "./types"

export interface Meta {
  terms: GlossaryTerm[]
  texts: Texts
}

/** `names` are its spellings on the screen, the canonical one first; `picture` illustrates it. */
export interface GlossaryTerm {
  names: string[]
  meaning: string
  picture: Shape[]
}
