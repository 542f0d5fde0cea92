"""The text of a component: what a host needs to mount it, read from the files beside its Python module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SHARED = Path(__file__).with_name("shared.js")


@dataclass(frozen=True)
class Source:
    """One component. `js` is an ES module whose default export mounts it; `html` is its empty root element."""

    name: str
    html: str
    css: str
    js: str


def read_source(folder: Path, name: str, html: str, *, parts: Sequence[str] = ()) -> Source:
    """The component in `folder`: shared.js, then the named parts of its script, then its script, as one module.

    `html` must be more than one line: Streamlit's components.v2 (1.67) takes a string without a line break for a path.
    """
    html = html if "\n" in html else f"{html}\n"
    scripts = [_SHARED, *(folder / f"{part}.js" for part in parts), folder / f"{name}.js"]
    return Source(
        name=name,
        html=html,
        css=(folder / f"{name}.css").read_text(encoding="utf-8"),
        js="\n".join(script.read_text(encoding="utf-8") for script in scripts),
    )
