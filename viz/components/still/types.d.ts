// What its scripts keep, beside what they are sent.

import type { Life } from "../shared/types"

export * from "./still_picture"

export type Still = string | [tag: string, attributes: Record<string, string>, ...children: Still[]]

export interface State extends Life {
  sheet: CSSStyleSheet
}
