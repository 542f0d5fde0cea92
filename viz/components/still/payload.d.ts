// What still.py packs.

import type { Life } from "../shared/types"

export type Still = string | [tag: string, attributes: Record<string, string>, ...children: Still[]]

export interface Meta {
  css: string
  nodes: Still[]
}

export interface State extends Life {
  sheet: CSSStyleSheet
}
