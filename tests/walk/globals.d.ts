// What scripts that are put into a page leave there for whoever drives it.
interface Window {
  walk: Record<string, unknown>
  probe: Record<string, unknown>
}
