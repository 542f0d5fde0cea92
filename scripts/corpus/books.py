"""The books part: plain paragraphs of Standard Ebooks checkouts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.corpus.plain_text import plain

SKIPPED_FILES = (
    "colophon", "imprint", "titlepage", "halftitlepage", "uncopyright", "loi", "endnotes", "frontispiece",
    "dedication", "epigraph", "preface", "introduction", "foreword", "glossary", "bibliography", "acknowledgments",
)  # fmt: skip
SHORTEST_PASSAGE = 200  # characters; shorter ends of chapters are dropped


def book_documents(checkout: Path, paragraphs_per_document: int = 12) -> Iterator[str]:
    """The chapters of one checkout in reading order, in passages of some paragraphs."""
    chapters = (checkout / "src/epub/text").glob("*.xhtml")
    for chapter in sorted(chapters, key=_by_number):
        if chapter.stem.startswith(SKIPPED_FILES):
            continue
        paragraphs = chapter_paragraphs(chapter.read_text(encoding="utf-8"))
        for start in range(0, len(paragraphs), paragraphs_per_document):
            passage = "\n\n".join(paragraphs[start : start + paragraphs_per_document])
            if len(passage) > SHORTEST_PASSAGE:
                yield passage


def chapter_paragraphs(source: str) -> list[str]:
    """The paragraphs of one XHTML chapter as plain text, without headings, figures, tables and note marks."""
    body = re.sub(r"<(header|hgroup|figure|table|head)\b.*?</\1>", "", source, flags=re.DOTALL)
    body = re.sub(r"<a [^>]*noteref[^>]*>.*?</a>", "", body, flags=re.DOTALL)
    paragraphs = []
    for raw in re.findall(r"<p\b[^>]*>(.*?)</p>", body, flags=re.DOTALL):
        text = re.sub(r"<[^>]+>", "", re.sub(r"<br\s*/?>", " ", raw))
        paragraphs.append(plain(html.unescape(text).replace("\n", " ")))
    return [paragraph for paragraph in paragraphs if len(paragraph) > 1]


def _by_number(file: Path) -> list[int | str]:
    """A sort key that puts chapter-2 before chapter-10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", file.name)]
