// What quick_head.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** This and `way` are those of jobs/head_prefetch.py. */
  ticket: string
  way: number
  /** The server stands below it: "/atlas", say. */
  base: string
  /** The head that the page shows by itself. */
  of: [layer: number, head: number]
}
