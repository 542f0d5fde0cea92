"""A component's script and style sheet as one ES module with a URL, and the few lines that mount it from there.

Streamlit (1.67) sends a component's script and style sheet whole with every update of it: of a click on Heads that was
half a megabyte. It serves files instead only of an installed package, under a URL without a digest, and then adds a
script element to the page for each update. So what it is given to send is a loader of a few lines, and a browser keeps
what that imports for good: the URL has the digest of what it names.
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
    """What a browser is answered: its media type, the text, and the same packed."""

    kind: str
    text: bytes
    packed: bytes


class ServedTexts:
    """The scripts and style sheets shown so far, by the last part of their URL. Safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[str, ServedText] = {}
        self._lock = threading.Lock()

    def add(self, name: str, text: str, suffix: str = "js") -> str:
        """Serve this text from now on; the last part of its URL."""
        data = text.encode("utf-8")
        at = f"{name}.{hashlib.blake2b(data, digest_size=8).hexdigest()}.{suffix}"
        with self._lock:
            if at not in self._held:
                self._held[at] = ServedText(TYPES[suffix], data, gzip.compress(data, 6, mtime=0))
        return at

    def get(self, at: str) -> ServedText | None:
        """The text of this URL, if it was shown since the server was started."""
        with self._lock:
            return self._held.get(at)


SERVED = ServedTexts()  # of this server: its route and the sessions' pages meet here


@functools.cache
def loader(source: Source, base: str) -> str:
    """The script that Streamlit sends for this component of a server below ``base`` ("" or "/atlas")."""
    component, sent = SERVED.add(source.name, module(source)), SERVED.add("sent", _sent())
    return (
        f"const load = (name) => import(`${{location.origin}}{base}/{FOLDER}/${{name}}`)\n"
        "export default async (host) => {\n"
        f'  const [{{ whole }}, component] = await Promise.all([load("{sent}"), load("{component}")])\n'
        "  return component.default({ ...host, data: await whole(host.data) })\n"
        "}\n"
    )


def module(source: Source) -> str:
    """The component's script, which puts its own style sheet into the root that it is mounted in."""
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
