// What quick_head.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** This and `way` are those of jobs/head_prefetch.py. */
  ticket: string
  way: number
  /** The server's base path, such as "/atlas". */
  base: string
  /** The head that the page itself shows. */
  of: [layer: number, head: number]
}
