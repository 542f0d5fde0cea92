// What glossary.py packs.

import type { Life, Texts } from "../shared/types"

export interface Term {
  names: string[]
  meaning: string
  picture: [tag: keyof SVGElementTagNameMap, attributes: Record<string, string>][]
}

export interface Meta {
  terms: Term[]
  texts: Texts
}

export interface State extends Life {
  meta: Meta
  open: HTMLButtonElement
  list: HTMLDialogElement
  note: HTMLElement
  words: RegExp
  byName: Map<string, Term>
  resting: number
  marking: number
  pressed: DOMRect | null
}
