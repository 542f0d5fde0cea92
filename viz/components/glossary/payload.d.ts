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
  /** By which kind of pointer the note that is open was asked for; "": it goes with the pointer. */
  kept: string
  /** Where the pointer was pressed. */
  down: { x: number; y: number } | null
}
