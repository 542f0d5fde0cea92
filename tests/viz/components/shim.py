"""A page that hosts components as Streamlit does, without a server: for browser tests.

`window.calls` collects [component, name, value] of all that is told; `window.send(component, base64)` calls the
component again with new data, as a rerun does.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from viz.components.source import Source

LIGHT = {
    "--st-background-color": "#fcfcfa",
    "--st-secondary-background-color": "#f3f3ee",
    "--st-text-color": "#1a1c22",
    "--st-primary-color": "#36339a",
    "--st-font": "system-ui, sans-serif",
}
DARK = {
    "--st-background-color": "#14151a",
    "--st-secondary-background-color": "#1b1c22",
    "--st-text-color": "#e8e8ec",
    "--st-primary-color": "#9ea0f0",
    "--st-font": "system-ui, sans-serif",
}

_HOST = """
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
window.calls = []
window.disposers = {}
const mounts = {}
for (const { name, html, css, js, data } of parts) {
  const host = document.querySelector(`[data-component="${name}"]`)
  const shadow = host.attachShadow({ mode: "open" })
  shadow.innerHTML = `<div><div>${html}</div><style></style></div>`
  shadow.querySelector("style").textContent = css
  const module = await import(URL.createObjectURL(new Blob([js], { type: "text/javascript" })))
  mounts[name] = (data) => {
    const setTriggerValue = (_, told) => window.calls.push([name, told.events.at(-1).name, told.events.at(-1).value])
    const component = { data: bytes(data), parentElement: shadow, setTriggerValue }
    window.disposers[name] = module.default(component)
  }
  mounts[name](data)
}
window.send = (name, data) => mounts[name](data)
window.ready = true
"""


def page(*components: tuple[Source, bytes], theme: Mapping[str, str] = LIGHT, style: str = "") -> str:
    """The whole HTML page, one <section data-component="name"> per component, in the given order."""
    parts = [
        {"name": source.name, "html": source.html, "css": source.css, "js": source.js, "data": encoded(data)}
        for source, data in components
    ]
    variables = ";".join(f"{name}:{value}" for name, value in theme.items())
    sections = "".join(f'<section data-component="{source.name}"></section>' for source, _ in components)
    script = json.dumps(parts).replace("</", "<\\/")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>:root{{{variables}}} body{{margin:16px;background:var(--st-background-color);"
        f"font-family:sans-serif;color:var(--st-text-color)}}{style}</style>"
        f'<body>{sections}<script type="module">const parts = {script}\n{_HOST}</script></body></html>'
    )


def encoded(data: bytes) -> str:
    """The payload as window.send takes it."""
    return base64.b64encode(data).decode("ascii")


def color_at(page: Any, x: float, y: float) -> list[int]:
    """The RGBA colour of the page's first canvas at a point of the window."""
    return page.locator("canvas").first.evaluate(
        """(canvas, [x, y]) => {
            const box = canvas.getBoundingClientRect()
            const ratio = canvas.width / box.width
            return [...canvas.getContext("2d").getImageData((x - box.left) * ratio, (y - box.top) * ratio, 1, 1).data]
        }""",
        [x, y],
    )


def line_pixels(page: Any, x: float, y: float, color: list[int], *, nth: int = 0, count: int = 40) -> list[int]:
    """Where in a row of `count` pixels around a point the page's nth canvas has this colour: the lines across paper."""
    return (
        page.locator("canvas")
        .nth(nth)
        .evaluate(
            """(canvas, [x, y, color, count]) => {
            const box = canvas.getBoundingClientRect()
            const ratio = canvas.width / box.width
            const left = Math.round((x - box.left) * ratio - count / 2)
            const { data } = canvas.getContext("2d").getImageData(left, (y - box.top) * ratio, count, 1)
            return [...Array(count).keys()].filter((i) => color.every((part, c) => part === data[4 * i + c]))
        }""",
            [x, y, color, count],
        )
    )
