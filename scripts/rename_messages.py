"""Changes English messages and keeps their translations: python -m scripts.rename_messages changes.json.

The file is a list of ``{"old": …, "new": …}``, with ``"zh": …`` where the Chinese changes too. Each Python string that
is an old message becomes the new one, in tests as well; ``make messages`` then updates the catalogs. Texts that quote a
part of a message are listed, for a person to read.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from babel.messages.pofile import escape

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 90  # characters per piece of a string, so that a line stays below 120 with its indentation
PART = 24  # characters of an old message by which a text that quotes it is found


def literal(text: str) -> str:
    """Python source of the string, in pieces that fit in a line."""
    pieces, rest = list[str](), text
    while len(rest) > WIDTH:
        cut = rest.rfind(" ", 1, WIDTH) + 1 or WIDTH
        pieces, rest = [*pieces, rest[:cut]], rest[cut:]
    return "\n".join(repr(piece) if '"' in piece else f'"{repr(piece)[1:-1]}"' for piece in [*pieces, rest])


def renamed_source(source: str, changes: Mapping[str, str]) -> str:
    """The source with every string that is an old message replaced by the new one."""
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = [
        (
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
            new,
        )
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (new := changes.get(node.value)) is not None
    ]
    for start, end, new in sorted(found, reverse=True):
        indent = " " * (start - data.rfind(b"\n", 0, start) - 1)
        data = data[:start] + literal(new).replace("\n", f"\n{indent}").encode() + data[end:]
    return data.decode()


def renamed_catalog(catalog: str, changes: Mapping[str, str], translations: Mapping[str, str]) -> str:
    """A catalog of one line per message, as ``make messages`` writes it. ``translations``: old message → new string."""
    lines = catalog.split("\n")
    olds = {f"msgid {escape(old)}": old for old in changes}
    for at, line in enumerate(lines):
        if (old := olds.get(line)) is not None:
            lines[at] = f"msgid {escape(changes[old])}"
            if old in translations:
                lines[at + 1] = f"msgstr {escape(translations[old])}"
    return "\n".join(lines)


def tracked(*suffixes: str) -> Iterator[Path]:
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    yield from (ROOT / name for name in names if name.endswith(suffixes))


def main(path: Path) -> None:
    listed = json.loads(path.read_text(encoding="utf-8"))
    changes = {one["old"]: one["new"] for one in listed}
    for file in tracked(".py"):
        source = file.read_text(encoding="utf-8")
        if (new := renamed_source(source, changes)) != source:
            file.write_text(new, encoding="utf-8")
            print(file.relative_to(ROOT))
    for file in tracked(".po"):
        chinese = {one["old"]: one["zh"] for one in listed if "zh" in one} if file.stem == "zh" else {}
        file.write_text(renamed_catalog(file.read_text(encoding="utf-8"), changes, chinese), encoding="utf-8")
    for file in tracked(".py", ".js", ".ts", ".txt", ".md", ".json", ".ipynb"):
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            parts = [old[at : at + PART] for at in range(0, max(1, len(old) - PART), PART)]
            if quoted := [part for part in parts if part in text and part not in new]:
                print(f"{file.relative_to(ROOT)} quotes {quoted[0]!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
