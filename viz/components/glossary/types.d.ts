// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { GlossaryTerm, Meta } from "./glossary_picture"

export * from "./glossary_picture"

/** An SVG element and its attributes. */
export type Shape = [tag: keyof SVGElementTagNameMap, attributes: Record<string, string>]

export interface State extends Life {
  meta: Meta
  open: HTMLButtonElement
  list: HTMLDialogElement
  note: HTMLElement
  words: RegExp
  byName: Map<string, GlossaryTerm>
  resting: number
  marking: number
  pressed: DOMRect | null
  /** By which kind of pointer the note that is open was asked for; "": it goes with the pointer. */
  kept: string
  /** Where the pointer was pressed. */
  down: { x: number; y: number } | null
}
