// What every component is given, and what shell.js adds to the state that it makes of it.

export type RGB = [number, number, number]
export type Ramp = [t: number, r: number, g: number, b: number][]
type Sides<Color> = { light: Color; dark: Color }

/** color.py */
export interface Palette {
  sequential: Sides<Ramp>
  diverging: Sides<Ramp>
  masked: Sides<RGB>
  query: Sides<RGB>
  key: Sides<RGB>
  value: Sides<RGB>
  compare: Sides<RGB>
}

/** theme.js; what comes from the palette is there for components that have one. */
export interface Theme {
  dark: boolean
  background: RGB
  text: RGB
  quiet: RGB
  rule: RGB
  secondary: RGB
  primary: RGB
  /** The contrast that words have at least. */
  least: number
  font: string
  query: RGB
  key: RGB
  value: RGB
  valueWords: RGB
  compare: RGB
  masked: RGB
  sequential: Ramp
  diverging: Ramp
}

/** TEXTS of a component's Python module, translated. */
export type Texts = Record<string, string>

/** "percent" or "plain": how formatNumber writes a value. */
export type NumberKind = string

/** Arrays of packing.py, each with its shape. */
export type Floats = Float32Array & { shape: number[] }
export type Bytes = Uint8Array & { shape: number[] }
export type Ints = Int32Array & { shape: number[] }

/** What a component's default export is called with, by Streamlit or standalone.js. */
export interface Host {
  data: Uint8Array
  parentElement: ParentNode
  setTriggerValue: (name: "told", value: Told) => void
  /** This page shows what a teacher's page shows, or a file what a page showed: nobody answers what is told. */
  follows?: boolean
  /** The figure stands in a file, where nobody else chooses. */
  alone?: boolean
}

/** What a component tells: of all it told lately, the newest last, so that the host misses none of it. */
export interface Told {
  by: string
  events: { number: number; name: string; value: unknown; at: number }[]
}

/** What outbox.js keeps: who tells, how much it told, and the last of it. */
export interface Outbox extends Told {
  told: number
}

export type Root = HTMLElement & { atlas?: any }

/** What shell.js and choice.js keep in a component's state, beside the component's own parts. */
export interface Life {
  root: Root
  theme: Theme
  outbox: Outbox
  send: (name: string, value: unknown) => void
  repaint: () => void
  again: () => void
  dispose: () => void
  follow: (at: any) => void
  follows: boolean
  /** see mayChoose in follow.js */
  chooses: boolean
  /** The host's last calls, the one that is drawn last; each draws its data again. */
  calls: (() => void)[]
  [part: string]: any
}

/** The parts of a component, see shell.js. */
export interface Component {
  create: (root: Root, signal: AbortSignal) => any
  receive: (state: any, payload: { meta: any; arrays: any }, data: Uint8Array) => void
  draw: (state: any) => void
  end?: (state: any) => void
  follow?: (state: any, at: any) => void
}

/** What sheet.js asks a component about its cells, see there. */
export interface Cells {
  choice: string
  hit: (state: any, x: number, y: number) => number[] | null
  neighbour: (state: any, step: [down: number, right: number]) => number[] | null
  boxOf: (state: any, cell: any) => { left: number; top: number; right: number; bottom: number } | null
  describe: (state: any, cell: any) => string
  refresh: (state: any) => void
}
