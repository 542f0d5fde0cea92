// Messages of a component to its host. While the server is busy, Streamlit (1.67) keeps only the newest waiting message
// of each component, so a click followed by a timer's message would be lost. Therefore each message repeats the recent
// ones before it, numbered, and the host skips those it has already received (ui/shell/components.py).

/** @import { Host, Outbox } from "./types" */

const REPEATED = 30_000 // milliseconds

/** @type {() => Outbox} */
export const emptyOutbox = () => ({ by: Math.random().toString(36).slice(2), told: 0, events: [] })

/** @type {(outbox: Outbox, host: Host, name: string, value: unknown) => void} */
export function post(outbox, host, name, value) {
  const now = performance.now()
  outbox.told += 1
  const recent = outbox.events.filter(({ at }) => now - at < REPEATED)
  outbox.events = [...recent, { number: outbox.told, name, value, at: now }]
  host.setTriggerValue("told", { by: outbox.by, events: outbox.events })
}
