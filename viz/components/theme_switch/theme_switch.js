export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".theme-switch")
  const { meta } = unpack(data)
  const state = stateOf(root, () => ({ stop: watchLayout(root, () => draw(root)) }))
  state.meta = meta
  document.documentElement.lang = meta.lang
  draw(root)
  return () => {
    state.stop()
    root.atlas = undefined
  }
}

function draw(root) {
  const { meta } = root.atlas
  const { dark } = readTheme(root)
  const button = (name, current) => {
    const node = element("button", { type: "button", "aria-pressed": String(current), textContent: meta.texts[name] })
    node.dataset.choice = name
    node.addEventListener("click", () => change(meta.paths, name))
    return node
  }
  root.setAttribute("role", "group")
  root.setAttribute("aria-label", meta.texts.label ?? "")
  root.replaceChildren(button("light", !dark), element("span", { "aria-hidden": "true", textContent: "·" }), button("dark", dark))
  root.dataset.current = dark ? "dark" : "light"
  markPainted(root)
}

// The key and the value are Streamlit 1.67's own (ACTIVE_THEME, version 2); a version that renames them ignores ours.
function change(paths, name) {
  const value = JSON.stringify(name === "dark" ? "Dark" : "Light")
  try {
    for (const path of new Set([...paths, location.pathname])) localStorage.setItem(`stActiveTheme-${path}-v2`, value)
  } catch {
    return // a browser that forbids storage keeps the system's theme; loading again would change nothing
  }
  location.reload()
}
