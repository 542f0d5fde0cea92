"""A text long enough for the page of long texts: the first chapter of a book in the public domain, and half of it."""

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


@functools.cache
def chapter() -> Chapter:
    """Read once."""
    held = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    paragraphs = held["paragraphs"]
    half, whole = ("\n\n".join(part) for part in (paragraphs[: held["half"]], paragraphs))
    return Chapter(held["title"], held["author"], held["source"], half, whole)
