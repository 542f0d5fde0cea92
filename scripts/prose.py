"""A style check: python -m scripts.prose finds patterns that read translated, in documents and on the screen.

Each pattern is one that readers stumbled over, with what to write instead. Code in documents is ignored; for the
screen, the English messages are read as ``make messages`` collects them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
CATALOG = ROOT / "ui" / "locales" / "zh.po"  # any catalog has every message
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|.*", re.MULTILINE)
OF_MESSAGES = ("families.md", "masks.md", "zoo.md")  # their tables are made of messages, which are checked separately
START = r"(?:^|(?<=[.!?:;] )|(?<=\| )|(?<=- ))"  # of a sentence, a cell or a line of a list


@dataclass(frozen=True)
class Pattern:
    """``found`` is what to avoid, ``instead`` what to write."""

    found: re.Pattern[str]
    instead: str


def pattern(found: str, instead: str) -> Pattern:
    return Pattern(re.compile(found, re.MULTILINE), instead)


PATTERNS = (
    pattern(
        START + r"Of (?:an?|any|each|every|such|what|which|whom|that|this|it|those|these) ",
        "begin with the subject (not “Of a model it shows …” but “It shows a model's …”)",
    ),
    pattern(
        START + r"(?:Asked|Compared|Counted|Covered|Drawn|Held|Kept|Listed|Left out|Measured|Named|Shown|Supported|Told"
        r"|Written) (?:is|are|was|were)\b",
        "begin with the subject (not “Drawn are the first tokens” but “Showing the first tokens”)",
    ),
    pattern(
        r"\b(?:is|are|was|were) (?:not )?(?:asked|said|told)\b(?! apart)",
        "say who says or sees it (not “it is told” but “the page shows”)",
    ),
    pattern(START + r"Who [^.?!]*\.", "name the person (not “Who waits sees …” but “Visitors who wait see …”)"),
    pattern(START + r"What of\b", "“What happens to …?”, “What about …?”"),
    pattern(r"\banew\b", "again"),
    pattern(r"\bin (?:the|its|their) places? of\b", "instead of"),
    pattern(r"\b(?:he|him|his|she|her|hers)\b", "they, their"),
)
FIELD = (  # in documents only: on the screen, a first lesson may say that a token looks
    pattern(r"\b(?:tokens?|heads?|quer(?:y|ies)|models?|layers?) (?:\w+ )?looks?\b", "attends"),
    pattern(r"\blooks? (?:ahead|back|both ways)\b", "attends; causal, bidirectional"),
)


def blanked(text: str) -> str:
    """Blank out code, keeping line numbers."""
    return CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)


def read(path: Path) -> str:
    """The prose of a document."""
    text = blanked(path.read_text(encoding="utf-8"))
    return ROW.sub("", text) if path.name in OF_MESSAGES else text


def findings(text: str, patterns: Iterable[Pattern] = PATTERNS) -> Iterator[tuple[int, str, str]]:
    """(line, the words that were found, what to write instead)."""
    for one in patterns:
        for match in one.found.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0].strip(), one.instead


def in_documents(root: Path = ROOT) -> Iterator[str]:
    for path in (*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))):
        for line, words, instead in findings(read(path), (*PATTERNS, *FIELD)):
            yield f"{path.relative_to(root)}:{line}: “{words}”: {instead}"


def in_messages(catalog: Path = CATALOG) -> Iterator[str]:
    with catalog.open("rb") as file:
        messages = read_po(file)
    for message in messages:
        for words in [message.id] if isinstance(message.id, str) else message.id:
            for _line, found, instead in findings(words):
                where = ", ".join(name for name, _ in message.locations[:1])
                yield f"{where}: message {words!r}: “{found}”: {instead}"


if __name__ == "__main__":
    wrong = [*in_documents(), *in_messages()]
    print("\n".join(wrong) or "No pattern that reads translated.")
    sys.exit(bool(wrong))
