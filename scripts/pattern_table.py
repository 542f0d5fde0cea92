"""The table of docs/masks.md, written from the patterns themselves.

    python -m scripts.pattern_table

A test fails if the document and the patterns differ.
"""

from __future__ import annotations

from pathlib import Path

from attention.patterns import PATTERNS, MaskParameter, Pattern

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "masks.md"
HEAD = ("pattern", "keeps, of the keys the model allows", "its numbers: what they count (default, least)", "source")


def table() -> str:
    """One row per pattern, in the order of the table in the code."""
    rows = [HEAD, ("---",) * len(HEAD), *(_row(pattern) for pattern in PATTERNS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_table(document: str) -> str:
    """The document with its table replaced, from the first row to the next empty line."""
    start = document.index(f"| {HEAD[0]} |")
    end = document.find("\n\n", start)
    return document[:start] + table() + (document[end:] if end >= 0 else "\n")


def _row(pattern: Pattern) -> tuple[str, ...]:
    numbers = "; ".join(_number(parameter) for parameter in pattern.parameters) or "–"
    ahead = "; may see keys after the query" if pattern.ahead else ""
    return f"{pattern.label} (`{pattern.name}`)", pattern.counts + ahead, numbers, pattern.source


def _number(parameter: MaskParameter) -> str:
    return f"`{parameter.name}`: {parameter.counts} ({parameter.default}, {parameter.least})"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
