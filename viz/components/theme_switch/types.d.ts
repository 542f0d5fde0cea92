// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"
import type { Meta } from "./theme_switch_picture"

export * from "./theme_switch_picture"

export interface State extends Life {
  meta: Meta
}
