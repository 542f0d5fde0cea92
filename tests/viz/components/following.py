"""A page with a component twice, as in a room: what is told at the teacher's is done at the one that follows.

`window.told` holds what the teacher's component points at, the newest last; `window.said` what the one that follows
told anybody, which must be nothing. Both are 620 pixels wide and stand side by side.
"""

from __future__ import annotations

import json
from typing import Any

from tests.viz.components import shim
from tests.viz.components.clock import settle
from viz.components.source import Source

TEACHER, PHONE = "teacher", "phone"

_HOST = """
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
window.told = []
window.said = []
const mounts = {}
for (const who of ["teacher", "phone"]) {
  const host = document.querySelector(`[data-who=${who}]`)
  const shadow = host.attachShadow({ mode: "open" })
  shadow.innerHTML = `<div><div>${part.html}</div><style></style></div>`
  shadow.querySelector("style").textContent = part.css
  const module = await import(URL.createObjectURL(new Blob([part.js], { type: "text/javascript" })))
  const follows = who === "phone"
  const setTriggerValue = (_, { events }) => follows && window.said.push(events.at(-1))
  host.addEventListener("atlas-pointed", ({ detail }) => (follows ? window.said : window.told).push(detail))
  mounts[who] = (data) => module.default({ data: bytes(data), parentElement: shadow, setTriggerValue, follows })
  mounts[who](part.data)
}
const root = (who) => document.querySelector(`[data-who=${who}]`).shadowRoot.querySelector("[data-painted]")
window.send = (who, data) => mounts[who](data)
window.follow = (at) => root("phone").atlas.follow(JSON.parse(JSON.stringify(at)))
window.shown = root
document.querySelector("[data-who=teacher]").addEventListener("atlas-pointed", ({ detail }) => window.follow(detail))
// Element by element, whatever of it was set first.
function* written(node) {
  for (const one of [node, ...node.querySelectorAll("*")]) {
    const words = (name, value) => (name === "class" ? value.split(" ").sort().join(" ") : value)
    const known = [...one.attributes].map(({ name, value }) => `${name}=${words(name, value)}`)
    yield [one.localName, ...known.filter((said) => said !== "class=").sort()].join(" ")
  }
  yield node.textContent
}
window.look = (who) => {
  const shown = root(who)
  const copy = shown.cloneNode(true)
  delete copy.dataset.painted
  for (const node of copy.querySelectorAll(".spoken, .tools, .hint, button.ask")) node.remove() // to who may choose
  for (const node of copy.querySelectorAll("[tabindex]")) node.removeAttribute("tabindex")
  for (const node of copy.querySelectorAll("canvas")) Object.assign(node.style, { cursor: "", touchAction: "" })
  for (const node of copy.querySelectorAll(".pencil")) node.removeAttribute("aria-pressed")
  for (const node of copy.querySelectorAll("[disabled]")) node.removeAttribute("disabled")
  copy.removeAttribute("data-follows")
  delete copy.dataset.pencil // a tool of the hand that has it
  const slides = [...shown.querySelectorAll("input")].map(({ value }) => value)
  return [...written(copy), ...slides, ...[...shown.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL())]
}
window.ready = true
"""


class Room:
    """The page once both are painted."""

    def __init__(self, page: Any, source: Source, data: bytes) -> None:
        self.page = page
        page.set_viewport_size({"width": 1320, "height": 900})
        page.goto("about:blank")
        page.set_content(_html(source, data))
        page.wait_for_function("window.ready")
        self.teacher, self.phone = (page.locator(f"[data-who={who}]") for who in (TEACHER, PHONE))

    def look(self, who: str) -> list[str]:
        """All that is seen of one: its elements and its pictures, without where the keyboard is."""
        settle(self.page)
        return self.page.evaluate("who => window.look(who)", who)

    def send(self, who: str, data: bytes) -> None:
        """New data, as a run of the page brings them."""
        self.page.evaluate("([who, data]) => window.send(who, data)", [who, shim.encoded(data)])

    def told(self) -> list[Any]:
        """What the teacher's component pointed at, one after the other."""
        return self.page.evaluate("window.told")

    def follow(self, at: Any) -> None:
        """What reaches the phone."""
        self.page.evaluate("at => window.follow(at)", at)

    @property
    def said(self) -> list[Any]:
        """What the phone's component told, once all that was due is."""
        self.page.evaluate("new Promise((done) => setTimeout(done, 400))")
        return self.page.evaluate("window.said")


def _html(source: Source, data: bytes) -> str:
    part = {"html": source.html, "css": source.css, "js": source.js, "data": shim.encoded(data)}
    written = json.dumps(part).replace("</", "<\\/")
    variables = ";".join(f"{name}:{value}" for name, value in shim.LIGHT.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><style>:root{{{variables}}} body{{margin:16px;'
        "background:var(--st-background-color);color:var(--st-text-color);display:flex;gap:24px} "
        'section{width:620px;flex:none}</style><body><section data-who="teacher"></section>'
        f'<section data-who="phone"></section><script type="module">const part = {written}\n{_HOST}</script></html>'
    )
