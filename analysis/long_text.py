"""A text for the page Long texts, and half of it.

In English the first chapter of a book in the public domain, in Chinese a story written for this application.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Chapter:
    """``half`` fits a model of two thousand tokens, ``whole`` does not."""

    title: str
    author: str
    source: str
    half: str
    whole: str

    @property
    def page(self) -> str:
        """Its first paragraphs, some hundred tokens in every language."""
        return self.half[: self.half.rfind("\n\n", 0, len(self.half) // 3)]


FILES = {"en": "long_text.json", "zh": "long_text_zh.json"}


@functools.cache
def chapter(language: str = "en") -> Chapter:
    """The chapter in this language, or else the English one; cached."""
    path = Path(__file__).with_name(FILES.get(language, FILES["en"]))
    held = json.loads(path.read_text(encoding="utf-8"))
    paragraphs = held["paragraphs"]
    half, whole = ("\n\n".join(part) for part in (paragraphs[: held["half"]], paragraphs))
    return Chapter(held["title"], held["author"], held["source"], half, whole)
