// What theme_switch.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  /** The URL paths of all pages ("/", "/cell", …); the open page is always included. */
  paths: string[]
  texts: Texts
  /** The page's language, by which the browser reads it aloud and renders Chinese; Streamlit says English. */
  lang: string
  reach: Reach | null
  /** The name of the script that draws Streamlit's charts, which the browser preloads when idle. */
  charts: string
}

/**
 * Where to request the session's arrays and the page's style sheet. The page uses the style from then on; the
 * browser then makes one request with the ticket, which shows the server that it can fetch.
 */
export interface Reach {
  ticket: string
  /** The server's. */
  base: string
  /** The sheet's URL below `base`. */
  style: string
}
