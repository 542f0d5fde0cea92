// What room_link.py packs.

import type { Life, Texts } from "../shared/types"

export interface Meta {
  talk: string
  code: string
  key: string
  born: string
  over: boolean
  asks: boolean
  texts: Texts
}

export interface State extends Life {
  meta: Meta
  words: HTMLElement
  socket: WebSocket | null
  tries: number
  count: { there: number; answered: number; unsaved: number } | null
  problem: string
  running?: ReturnType<typeof setTimeout>
  waiting: Map<string, object>
}
