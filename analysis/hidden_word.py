"""A text with one word masked for an encoder: its words, which to mask, and the text for other models."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analysis.units import WORD

SEPARATOR = re.compile(r"\s*\[SEP\]\s*")  # between two sentences of one text
MARK = "[MASK]"  # of the embedded encoder, and used in its examples


@dataclass(frozen=True)
class Word:
    """A word of a text and its position; the stop is exclusive."""

    text: str
    start: int
    end: int


def words_in(text: str) -> tuple[Word, ...]:
    """The words in order, without punctuation; in a script without spaces each character is one."""
    apart = [match.span() for match in SEPARATOR.finditer(text)]
    found = (Word(match.group(), *match.span()) for match in WORD.finditer(text))
    inside = (word for word in found if not any(start <= word.start < end for start, end in apart))
    return tuple(word for word in inside if any(letter.isalnum() for letter in word.text))


def usual_word(text: str) -> int | None:
    """The default: the longest word with words on both sides, the last of ties; None without words.

    A long word is rarely a function word (the, of), and it can be predicted from both sides.
    """
    words = words_in(text)
    inner = range(1, len(words) - 1) if len(words) > 2 else range(len(words))
    return max(inner, key=lambda i: (len(words[i].text), i), default=None)


def hide(text: str, word: int | None) -> str:
    """The text with this word masked; unchanged if it has a mask already, or no words. Raises IndexError."""
    if MARK in text or word is None:
        return text
    hidden = words_in(text)[word]
    return text[: hidden.start] + MARK + text[hidden.end :]


def seen_before(text: str) -> str:
    """A left-to-right model's input for a text with masked words: everything before the first mask."""
    return SEPARATOR.sub(" ", text.split(MARK)[0]).rstrip() or without_marks(text)


def without_marks(text: str) -> str:
    """The text without masked words, and with its sentences joined."""
    return SEPARATOR.sub(" ", text.replace(MARK, ""))
