// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./film_picture"

export * from "./film_picture"

export interface State extends Life {
  meta: Meta
  reel: any
  at: any
  speed: any
  playing: any
  asking: any
  resting: number
  /** The last frame that the reader saw, and the last one whose token the text shows. */
  seen: number
  shown: number
  beats: Animation[]
  /** Where the host was last told that the reader stays. */
  told: string
}
