"""A text with one word hidden, as an encoder is asked: which words there are, which to hide, what others read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analysis.units import WORD

SEPARATOR = re.compile(r"\s*\[SEP\]\s*")  # between two sentences of one text
MARK = "[MASK]"  # of the embedded encoder, and what its examples are written with


@dataclass(frozen=True)
class Word:
    """A word of a text, with where it stands in it; the end is excluded."""

    text: str
    start: int
    end: int


def words_in(text: str) -> tuple[Word, ...]:
    """The words in order, punctuation left out; of a script without spaces each character is one."""
    apart = [match.span() for match in SEPARATOR.finditer(text)]
    found = (Word(match.group(), *match.span()) for match in WORD.finditer(text))
    inside = (word for word in found if not any(start <= word.start < end for start, end in apart))
    return tuple(word for word in inside if any(letter.isalnum() for letter in word.text))


def usual_word(text: str) -> int | None:
    """Which to begin with: the longest that has a word on either side, the last of several; None without words.

    A long word is seldom one of those that any text has (the, of), and it is guessed from both sides.
    """
    words = words_in(text)
    inner = range(1, len(words) - 1) if len(words) > 2 else range(len(words))
    return max(inner, key=lambda i: (len(words[i].text), i), default=None)


def hide(text: str, word: int | None) -> str:
    """The text with this word hidden; as it is where it hides one itself, or has none. Raises IndexError."""
    if MARK in text or word is None:
        return text
    hidden = words_in(text)[word]
    return text[: hidden.start] + MARK + text[hidden.end :]


def seen_before(text: str) -> str:
    """What a model that reads from left to right is given of a text that hides words: all before the first of them."""
    return SEPARATOR.sub(" ", text.split(MARK)[0]).rstrip() or without_marks(text)


def without_marks(text: str) -> str:
    """The text with nothing in the place of hidden words, and its sentences one after the other."""
    return SEPARATOR.sub(" ", text.replace(MARK, ""))
