// What theme_switch.py packs.

import type { Life, Texts } from "../shared/types"

export interface Meta {
  paths: string[]
  lang: string
  texts: Texts
}

export interface State extends Life {
  meta: Meta
}
