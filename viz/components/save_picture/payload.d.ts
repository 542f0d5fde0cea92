// What save_picture.py packs.

import type { Life } from "../shared/types"

export interface Meta {
  svg: string
  filename: string
  label: string
  failed: string
}

export interface State extends Life {
  meta: Meta
}
