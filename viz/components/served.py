"""A component's script and style sheet as one ES module with a URL, and the few lines that mount it from there.

Streamlit (1.67) sends a component's whole script and style sheet with every update of it: half a megabyte for a click
on Heads. It can serve files only for an installed package, under a URL without a digest, and then adds a script element
to the page for each update. So Streamlit is given a loader of a few lines, and the browser caches what that imports for
good: its URL contains a digest of the content.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path

from viz.components.source import EXPORT, Source, one_module

FOLDER = "scripts"  # of the URLs, below the server's base
SENT = Path(__file__).parent / "shared" / "sent.js"


TYPES = {"js": "text/javascript", "css": "text/css"}


@dataclass(frozen=True)
class ServedText:
    """A response: its media type, the text, and the text compressed."""

    kind: str
    text: bytes
    packed: bytes


class ServedTexts:
    """The scripts and style sheets shown so far, by the last part of their URL. Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[str, ServedText] = {}
        self._lock = threading.Lock()

    def add(self, name: str, text: str, suffix: str = "js") -> str:
        """Serve this text from now on; returns the last part of its URL."""
        data = text.encode("utf-8")
        at = f"{name}.{hashlib.blake2b(data, digest_size=8).hexdigest()}.{suffix}"
        with self._lock:
            if at not in self._held:
                self._held[at] = ServedText(TYPES[suffix], data, gzip.compress(data, 6, mtime=0))
        return at

    def get(self, at: str) -> ServedText | None:
        """The text at this URL, if it was shown since the server started."""
        with self._lock:
            return self._held.get(at)


SERVED = ServedTexts()  # of this server; shared by its route and the sessions' pages


@functools.cache
def loader(source: Source, base: str) -> str:
    """The script that Streamlit sends for this component, for a server with base path ``base`` ("" or "/atlas")."""
    component, sent = SERVED.add(source.name, module(source)), SERVED.add("sent", _sent())
    return (
        f"const load = (name) => import(`${{location.origin}}{base}/{FOLDER}/${{name}}`)\n"
        "export default async (host) => {\n"
        f'  const [{{ whole }}, component] = await Promise.all([load("{sent}"), load("{component}")])\n'
        "  return component.default({ ...host, data: await whole(host.data) })\n"
        "}\n"
    )


def module(source: Source) -> str:
    """The component's script, which adds its own style sheet to the root in which it is mounted."""
    if source.js.count(EXPORT) != 1:
        raise ValueError(f"component {source.name!r} must contain {EXPORT!r} exactly once")
    return (
        f"{source.js.replace(EXPORT, 'const component = function')}\n"
        "const styles = new CSSStyleSheet()\n"
        f"styles.replaceSync({json.dumps(source.css, ensure_ascii=False)})\n"
        "export default (host) => {\n"
        "  const { parentElement } = host\n"
        "  const held = parentElement.adoptedStyleSheets\n"
        "  if (!held.includes(styles)) parentElement.adoptedStyleSheets = [styles, ...held]\n"
        "  return component(host)\n"
        "}\n"
    )


@functools.cache
def _sent() -> str:
    return f"{one_module(SENT)}\nexport {{ whole }}\n"
