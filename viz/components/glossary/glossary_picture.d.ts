// What glossary.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"
import type { Shape } from "./types"

export interface Meta {
  terms: GlossaryTerm[]
  texts: Texts
}

/** `names` are its spellings on the screen, the first its own; `picture` shows what words say badly. */
export interface GlossaryTerm {
  names: string[]
  meaning: string
  picture: Shape[]
}
