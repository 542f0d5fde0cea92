"""One step of a lesson: a page's address and the words to it, as a Markdown file says them.

    ---
    lesson: What attention is
    title: One head, one map
    address: /?layer=6&head=4
    question: where
    ---
    Words of Markdown.

``lesson`` names the whole and counts in its first step; ``tour`` in its place names a tour, a longer way through a
whole subject. ``question`` stands where a class is to be asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

N_ = str  # marks a text for Babel without translating it here

LONGEST = 20_000  # characters of a file
QUESTIONS = ("next", "where", "ablate")  # as a room asks them
NAMES = ("lesson", "tour", "title", "address", "question")

TOO_LONG = N_("its step {file} has more than {most} characters")
NO_HEAD = N_("its step {file} does not begin with lines of the form “name: value” between two lines ---")
UNKNOWN = N_("its step {file} says “{value}:”, which is not one of {names}")
MISSING = N_("its step {file} has no “{value}:” line")
NO_PAGE = N_("there is no page at “{value}”, the URL of its step {file}")
NO_QUESTION = N_("its step {file} asks “{value}”, which is not one of {names}")
NO_WORDS = N_("its step {file} has no text")
PICTURE = N_("its step {file} has a picture or HTML in its words, where only Markdown text is allowed")

_HEAD = re.compile(r"\ufeff?---[ \t]*\n(?P<head>.*?\n)---[ \t]*(?:\n|\Z)(?P<words>.*)", re.DOTALL)
_LINE = re.compile(r"(?P<name>\w+)[ \t]*:[ \t]*(?P<value>.*)")
_PICTURE = re.compile(r"!\[|<\w")
_STRONG = re.compile(r"(\*{1,2})(?=\S)([^*]+?)(?<=\S)\1")  # within a word, too: Chinese has no spaces
# italics by another mark, code and the address of a link; the mark before a heading, a quotation or a row of a list
_MARKS = re.compile(r"(?<!\w)_|_(?!\w)|`|(?<=\])\([^)]*\)|[\[\]]|^(?:#+|>|[-*])[ \t]+", re.MULTILINE)


@dataclass(frozen=True)
class LessonStep:
    """``page`` is a page's address without a slash, ``parts`` what it is opened with, in order, by name.

    ``words`` are Markdown; ``question`` is one of ``QUESTIONS``, or "" for none; ``lesson`` or ``tour`` names what
    begins with this step.
    """

    title: str
    page: str
    parts: tuple[tuple[str, str], ...]
    words: str
    question: str = ""
    lesson: str = ""
    tour: str = ""

    @property
    def address(self) -> str:
        """Below the app's own."""
        return f"/{self.page}?{urlencode(self.parts)}" if self.parts else f"/{self.page}"

    @property
    def plain_words(self) -> str:
        """The same without the marks of Markdown."""
        return _MARKS.sub("", _STRONG.sub(r"\2", self.words))


class Broken(Exception):
    """Why a step is none: half a sentence with places for ``values``, in which {file} is the step's name."""

    def __init__(self, reason: str, **values: Any) -> None:
        super().__init__(reason)
        self.reason, self.values = reason, values


def read(text: str, pages: Collection[str]) -> LessonStep:
    """The step of a file; ``pages`` are the addresses that there are. Raises Broken."""
    if len(text) > LONGEST:
        raise Broken(TOO_LONG, most=f"{LONGEST:,}")
    found = _HEAD.fullmatch(text.replace("\r\n", "\n"))
    if found is None:
        raise Broken(NO_HEAD)
    head = _named(found["head"])
    for name in ("title", "address"):
        if not head.get(name):
            raise Broken(MISSING, value=name)
    page, parts = _place(head["address"], pages)
    question, words = head.get("question", ""), found["words"].strip()
    if question and question not in QUESTIONS:
        raise Broken(NO_QUESTION, value=question[:40], names=", ".join(QUESTIONS))
    if not words:
        raise Broken(NO_WORDS)
    if _PICTURE.search(words):
        raise Broken(PICTURE)
    return LessonStep(head["title"], page, parts, words, question, head.get("lesson", ""), head.get("tour", ""))


def written(step: LessonStep) -> str:
    """The file that :func:`read` reads."""
    named = {
        "lesson": step.lesson,
        "tour": step.tour,
        "title": step.title,
        "address": step.address,
        "question": step.question,
    }
    lines = [f"{name}: {' '.join(value.split())}" for name, value in named.items() if value.strip()]
    return "\n".join(["---", *lines, "---", step.words.strip(), ""])


def _named(head: str) -> Mapping[str, str]:
    named: dict[str, str] = {}
    for line in filter(None, map(str.strip, head.splitlines())):
        found = _LINE.fullmatch(line)
        if found is None:
            raise Broken(NO_HEAD)
        if found["name"] not in NAMES:
            raise Broken(UNKNOWN, value=found["name"][:40], names=", ".join(NAMES))
        named[found["name"]] = found["value"].strip()
    return named


def _place(address: str, pages: Collection[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Page and parts. An address that was copied whole, with the name of a server, is the same."""
    missing = Broken(NO_PAGE, value=address[:80])
    try:
        split = urlsplit(address)
    except ValueError:
        raise missing from None
    page = split.path.strip("/")
    if page not in pages or not (split.path.startswith("/") or split.netloc):
        raise missing
    return page, tuple(dict(parse_qsl(split.query, keep_blank_values=True)).items())
