// What theme_switch.py packs.

import type { Life, Texts } from "../shared/types"

export interface Reach {
  ticket: string
  base: string
  style: string
}

export interface Meta {
  paths: string[]
  lang: string
  /** Where to ask, for what the session was sent and for the page's style sheet. */
  reach: Reach | null
  /** The name of the script that draws Streamlit's charts, which is imported ahead; "" where that is not known. */
  charts: string
  texts: Texts
}

export interface State extends Life {
  meta: Meta
}
