// What theme_switch.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  /** The URL paths of all pages ("/", "/cell", …); the page that is open is always included. */
  paths: string[]
  texts: Texts
  /** The page's language, which the browser reads and draws Chinese by; Streamlit says English. */
  lang: string
  reach: Reach | null
  /** The name of the script that draws Streamlit's charts, which the browser imports while nothing happens. */
  charts: string
}

/**
 * Where to ask, for what the session was sent and for the page's style sheet. The page wears the style from then
 * on; after that the browser asks once with the ticket, so that the server knows that it can, and does.
 */
export interface Reach {
  ticket: string
  /** The server's. */
  base: string
  /** The sheet's URL below `base`. */
  style: string
}
