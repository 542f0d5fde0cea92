// What save_picture.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** Must have its own width and height and no external references, or the browser draws nothing. */
  svg: string
  filename: string
  label: string
  failed: string
}
