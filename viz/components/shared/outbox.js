// What a component tells its host, with what it told shortly before. Of the messages of one component that wait while
// the server is busy, Streamlit (1.67) keeps the newest alone: a click told before a timer's message would be lost. So
// each message repeats those before it, numbered, and the host passes over those it has heard (ui/shell/components.py).

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
