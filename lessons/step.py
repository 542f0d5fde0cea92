"""One step of a lesson: a page's URL and the text beside it, as a Markdown file.

    ---
    lesson: What attention is
    title: One head, one map
    address: /?layer=6&head=4
    question: where
    ---
    Words of Markdown.

``lesson``, in the first step, names the whole; ``tour`` instead names a tour, a longer lesson about a whole subject.
``question`` is present if a class is to be asked one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

N_ = str  # marks a text for Babel without translating it here

LONGEST = 20_000  # characters of a file
QUESTIONS = ("next", "where", "ablate")  # kinds of questions that a room can ask
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
_STRONG = re.compile(r"(\*{1,2})(?=\S)([^*]+?)(?<=\S)\1")  # also within a word, since Chinese has no spaces
# emphasis with another mark, code, and the URL of a link; the mark before a heading, a quotation or a list item
_MARKS = re.compile(r"(?<!\w)_|_(?!\w)|`|(?<=\])\([^)]*\)|[\[\]]|^(?:#+|>|[-*])[ \t]+", re.MULTILINE)


@dataclass(frozen=True)
class LessonStep:
    """``page`` is a page's URL without a slash, ``parts`` the URL parameters it is opened with, in order of name.

    ``words`` are Markdown; ``question`` is one of ``QUESTIONS``, or empty for none; ``lesson`` or ``tour`` names what
    starts with this step.
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
        """The URL below the app's base path."""
        return f"/{self.page}?{urlencode(self.parts)}" if self.parts else f"/{self.page}"

    @property
    def plain_words(self) -> str:
        """The words without Markdown syntax."""
        return _MARKS.sub("", _STRONG.sub(r"\2", self.words))


class Broken(Exception):
    """Why a step is invalid: half a sentence with placeholders for ``values``; {file} is the step's file name."""

    def __init__(self, reason: str, **values: Any) -> None:
        super().__init__(reason)
        self.reason, self.values = reason, values


def read(text: str, pages: Collection[str]) -> LessonStep:
    """Parse a step file; ``pages`` are the existing page URLs. Raises Broken."""
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
    """Format a step as the file that :func:`read` parses."""
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
    """Page and parameters of a URL; a full URL with a server's name is accepted too."""
    missing = Broken(NO_PAGE, value=address[:80])
    try:
        split = urlsplit(address)
    except ValueError:
        raise missing from None
    page = split.path.strip("/")
    if page not in pages or not (split.path.startswith("/") or split.netloc):
        raise missing
    return page, tuple(dict(parse_qsl(split.query, keep_blank_values=True)).items())
