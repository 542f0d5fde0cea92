// What save_picture.py packs; python -m scripts.picture_types wrote this file.

export interface Meta {
  /** Carries its own width and height and refers to nothing outside itself, or the browser draws nothing. */
  svg: string
  filename: string
  label: string
  failed: string
}
