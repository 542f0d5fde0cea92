// What room_link.py packs; python -m scripts.picture_types wrote this file.

import type { Texts } from "../shared/types"

export interface Meta {
  /** The path of the room's WebSocket. */
  talk: string
  /** Names the server. */
  born: string
  texts: Texts
  code: string
  /** Proves that this is the teacher's page; none: no room. Then a tab that has one tells it as `back`. */
  key: string
  /** That room has ended: nothing is told. */
  over: boolean
  /** It is waited for: a tab that has none tells "". */
  asks: boolean
}
