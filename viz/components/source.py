"""A component's source: what a host needs to mount it, read from the files beside its Python module.

Scripts are ES modules that import one another by relative paths. There is no build step: when a component is read, its
modules are concatenated, each after those that it imports, without `import` and `export`. They share one scope, so a
name that two of them declare is an error. A module's style sheet is beside it, under its name; shared/shared.css comes
first.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

EXPORT = "export default function"  # once in every component, called by its host
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
    """The component in `folder`: its script with all that it imports as one module, and their style sheets.

    `html` must have more than one line: Streamlit's components.v2 (1.67) takes a string without a line break for a
    path.
    """
    html = html if "\n" in html else f"{html}\n"
    entry = (folder / f"{name}.js").resolve()
    parts = [path for path in _modules(entry) if path != entry]
    sheets = [_SHARED, *(path.with_suffix(".css") for path in (entry, *parts))]  # the whole's before those of its parts
    return Source(
        name=name,
        html=html,
        css="\n".join(path.read_text(encoding="utf-8") for path in sheets if path.exists()),
        js=one_module(entry),
    )


def one_module(entry: Path) -> str:
    """The script `entry` and everything that it imports, as one module without imports.

    Raises ValueError for an import in another form, a name that is not exported, a circular import, or a name that two
    modules declare.
    """
    modules = _modules(entry.resolve())
    declared: dict[str, Path] = {}
    for path, module in modules.items():
        for name in module.declared:
            if name in declared:
                raise ValueError(f"{name!r} is declared in {declared[name].name} and in {path.name}")
            declared[name] = path
    return "\n".join(module.text for module in modules.values())


@dataclass(frozen=True)
class _Module:
    """One script: its text without imports and exports, its declarations, exports and imports."""

    text: str
    declared: tuple[str, ...]
    exported: frozenset[str]
    imported: tuple[tuple[Path, frozenset[str]], ...]


def _modules(entry: Path) -> dict[Path, _Module]:
    """Each module after those it imports."""
    found: dict[Path, _Module] = {}

    def add(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise ValueError(f"{above[-1].name} imports {path.name} in a circle")
        if path in found:
            return
        module = _read(path, path.stat().st_mtime_ns)
        for other, names in module.imported:
            add(other, (*above, path))
            missing = names - found[other].exported
            if missing:
                raise ValueError(
                    f"{path.name} imports {', '.join(sorted(missing))}, which {other.name} does not export"
                )
        found[path] = module

    add(entry, ())
    return found


@functools.cache
def _read(path: Path, _changed: int) -> _Module:
    """The module, cached until its file changes: many components import the same ones, and the frame waits."""
    text = path.read_text(encoding="utf-8")
    imported = tuple(
        (
            (path.parent / one["path"]).resolve(),
            frozenset(name.strip() for name in one["names"].split(",")),
        )
        for one in _IMPORT.finditer(text)
    )
    bare = _EXPORT.sub("", _IMPORT.sub("", text))
    if _LEFT.search(bare):
        raise ValueError(f"{path.name} has an import or export of another form than the one that can be taken out")
    declared = list(_DECLARED.finditer(text))
    exported = frozenset(one["name"] for one in declared if one["export"])
    return _Module(bare, tuple(one["name"] for one in declared), exported, imported)
