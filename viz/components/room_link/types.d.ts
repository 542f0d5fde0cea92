// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./room_link_picture"

export * from "./room_link_picture"

export interface State extends Life {
  meta: Meta
  words: HTMLElement
  socket: WebSocket | null
  tries: number
  count: { there: number; answered: number; unsaved: number } | null
  problem: string
  waiting: Map<string, object>
}
