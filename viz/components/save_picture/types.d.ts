// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./save_picture_picture"

export * from "./save_picture_picture"

export interface State extends Life {
  meta: Meta
}
