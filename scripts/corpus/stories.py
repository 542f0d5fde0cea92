"""The stories part: clean, de-duplicated TinyStories excerpts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.corpus.plain_text import plain

STORY_START = r"\n(?=(?:Once upon a time|Once there|Long ago|There once|Once,|One day,? (?:an?|there|two|some)\b))"
SHORTEST_STORY = 200  # characters


def story_documents(files: list[Path]) -> Iterator[str]:
    """Complete ASCII stories; one that shares more than a third of its paragraphs with earlier ones is left out.

    A ``.json`` file is a list of stories. In a text file ``<|endoftext|>`` parts them; where there is none, a story
    starts at a line that opens like one.
    """
    seen: set[str] = set()
    for file in files:
        for chunk in _chunks(file):
            text = re.sub(r"\n{3,}", "\n\n", re.sub(r" *\n *", "\n", plain(chunk)))
            keys = {re.sub(r"\W+", "", paragraph)[:80] for paragraph in text.split("\n")} - {""}
            known = len(keys & seen)
            seen |= keys
            complete = len(text) >= SHORTEST_STORY and text.isascii() and re.search(r"[.!?\"]$", text)
            if complete and 3 * known <= len(keys):
                yield text


def _chunks(file: Path) -> list[str]:
    source = file.read_text(encoding="utf-8", errors="ignore")
    if file.suffix == ".json":
        return [str(story) for story in json.loads(source)]
    return source.split("<|endoftext|>") if "<|endoftext|>" in source else re.split(STORY_START, source)
