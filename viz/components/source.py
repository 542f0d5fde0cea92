"""The text of a component: what a host needs to mount it, read from the files beside its Python module.

Scripts are ES modules that import one another by relative paths. There is no build step: where a component is read,
its modules are put one after the other, each after those it imports, without the words `import` and `export`. So all of
them share one scope, and a name that two of them use is refused here. A module's style sheet stands beside it, under
its name; shared/shared.css is before all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

EXPORT = "export default function"  # once in every component: how its host would call it
_SHARED = Path(__file__).parent / "shared" / "shared.css"
_IMPORT = re.compile(r'^import \{ ?(?P<names>[^}]*?),?\s*\} from "(?P<path>\.\.?/[\w/]+\.js)"\n+', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function\b|const |let |class )", re.MULTILINE)
_DECLARED = re.compile(r"^(?P<export>export )?(?:async )?(?:function\*?|const|let|class) (?P<name>\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import\b|export\b(?! default function\b))", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """One component. `js` is an ES module whose default export mounts it; `html` is its empty root element."""

    name: str
    html: str
    css: str = field(repr=False)
    js: str = field(repr=False)


def read_source(folder: Path, name: str, html: str) -> Source:
    """The component in `folder`: its script, with all that it imports, as one module, and their style sheets.

    `html` must be more than one line: Streamlit's components.v2 (1.67) takes a string without a line break for a path.
    """
    html = html if "\n" in html else f"{html}\n"
    entry = (folder / f"{name}.js").resolve()
    parts = [path for path in dict(_modules(entry, ())) if path != entry]
    sheets = [_SHARED, *(path.with_suffix(".css") for path in (entry, *parts))]  # the whole's before its parts'
    return Source(
        name=name,
        html=html,
        css="\n".join(path.read_text(encoding="utf-8") for path in sheets if path.exists()),
        js=one_module(entry),
    )


def one_module(entry: Path) -> str:
    """The script `entry` and all that it imports, as one text that imports nothing.

    ValueError for an import that is not of the one form, of a name that is not exported or in a circle, and for a name
    that two modules declare.
    """
    texts = dict(_modules(entry.resolve(), ()))
    declared: dict[str, Path] = {}
    for path, text in texts.items():
        for found in _DECLARED.finditer(text):
            name = found["name"]
            if name in declared:
                raise ValueError(f"{name!r} is declared in {declared[name].name} and in {path.name}")
            declared[name] = path
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts.values())


def _modules(path: Path, above: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    """Each module after those it imports; one that several import comes several times, with the same text."""
    if path in above:
        raise ValueError(f"{above[-1].name} imports {path.name} in a circle")
    text = path.read_text(encoding="utf-8")
    for found in _IMPORT.finditer(text):
        other = (path.parent / found["path"]).resolve()
        yield from _modules(other, (*above, path))
        names = [name.strip() for name in found["names"].split(",")]
        missing = set(names) - _exported(other)
        if missing:
            raise ValueError(f"{path.name} imports {', '.join(sorted(missing))}, which {other.name} does not export")
    rest = _LEFT.search(_EXPORT.sub("", _IMPORT.sub("", text)))
    if rest:
        raise ValueError(f"{path.name} has an import or export of another form than the one that can be taken out")
    yield path, text


def _exported(path: Path) -> set[str]:
    return {found["name"] for found in _DECLARED.finditer(path.read_text(encoding="utf-8")) if found["export"]}
