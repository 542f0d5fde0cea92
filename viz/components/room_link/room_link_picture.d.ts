// What room_link.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  /** Path of the room's WebSocket. */
  talk: string
  /** Identifies the server process. */
  born: string
  texts: Texts
  code: string
  /** Proves that this is the teacher's page; empty: no room. Then a tab that has one sends its key as `back`. */
  key: string
  /** The room has ended; the key is not sent. */
  over: boolean
  /** The page waits: a tab without a room sends "". */
  asks: boolean
}
