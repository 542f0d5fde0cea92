"""A token, and texts that can be shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

VISIBLE = {" ": "·", "\n": "⏎", "\t": "⇥"}
JOINER = "\u200d"
CIRCLE = "◌"  # what Unicode draws a mark on that has no letter before it


@dataclass(frozen=True)
class Token:
    """One token: ``text`` is for display (a leading space is ``·``), ``start`` and ``end`` count characters.

    The bytes of one character that was split cover that same character and show as ``⟨F0⟩``. A token that stands for
    no characters of the text (``⟨bos⟩``) is ``special`` and has ``start == end``; one that an encoder has beside every
    text (``⟨global 1⟩``) is in no vocabulary, and its ``id`` is negative. ``hidden``: it stands for a word that
    an encoder is to guess (``⟨MASK⟩``). Of a sound a token is a frame, ``text`` its time, ``id`` its place; ``silent``:
    it is none of the sound, but of the silence that it is filled up with.
    """

    id: int
    text: str
    start: int
    end: int
    special: bool = False
    hidden: bool = False
    silent: bool = False


@dataclass(frozen=True)
class TokenizerInfo:
    """What cuts a text into tokens: the class ``name`` of transformers, and the ``file`` that it read, if that is told.

    ``overruled``: the class would cut otherwise than the file, so the file is read as it is. ``count`` is how many
    tokens it knows. ``languages`` are the codes of those that it has tokens for, such as fr or fra_Latn; it takes a
    text for the ``source`` language unless a request names another, and ``target`` is the one to write.
    """

    name: str
    file: str = ""
    overruled: bool = False
    count: int = 0
    languages: tuple[str, ...] = ()
    source: str | None = None
    target: str | None = None


def second_starts(tokens: Sequence[Token]) -> int | None:
    """The position of the first token of the second sentence, after a separator as the text ends with; None without."""
    ids = [token.id for token in tokens]
    if not tokens or not tokens[-1].special or ids.index(ids[-1]) == len(ids) - 1:
        return None
    start = ids.index(ids[-1]) + 1
    return start if start < len(ids) - 1 else None


def visible(text: str) -> str:
    """Spaces, line breaks, control and direction characters made visible, so that nothing hides or reorders a label."""
    if text and all(map(_of_an_emoji, text)):  # in one they make it what it is; alone they would be nothing
        return "".join(f"⟨{ord(character):04X}⟩" for character in text)
    alone = unicodedata.category(text[:1] or " ").startswith("M") and not _of_an_emoji(text[0])
    return CIRCLE * alone + "".join(map(_visible_character, text)) or "⟨⟩"


def _of_an_emoji(character: str) -> bool:
    """Whether it joins two, or chooses how the one before it looks."""
    return character == JOINER or "\ufe00" <= character <= "\ufe0f"


def _visible_character(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    invisible = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co")
    return f"⟨{ord(character):04X}⟩" if invisible and character != JOINER else character
