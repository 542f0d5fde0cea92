"""Tokens, and text made visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

VISIBLE = {" ": "·", "\n": "⏎", "\t": "⇥"}
JOINER = "\u200d"
CIRCLE = "◌"  # on which Unicode shows a combining mark without a letter before it


@dataclass(frozen=True)
class Token:
    """One token: ``text`` is for display (a leading space is ``·``), ``start`` and ``end`` count characters.

    The parts of a character that is split into several tokens all cover it, and are displayed like ``⟨F0⟩``. A token
    without characters in the text (``⟨bos⟩``) is ``special`` and has ``start == end``; a token that an encoder adds to
    every text (``⟨global 1⟩``) is in no vocabulary, and its ``id`` is negative. ``hidden``: it stands for a word that
    an encoder has to guess (``⟨MASK⟩``). For a sound, a token is a frame, ``text`` its time, ``id`` its index;
    ``silent``: it belongs to the silence with which the sound is padded.
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
    """The tokenizer: the transformers class ``name``, and the ``file`` that it read, if known.

    ``overruled``: the class would tokenize differently than the file, so the file is used as it is. ``count`` is the
    size of the vocabulary. ``languages`` are the codes of the languages with a token, such as fr or fra_Latn;
    ``source`` is the language that a text is assumed to be in unless a request names another, ``target`` the output
    language.
    """

    name: str
    file: str = ""
    overruled: bool = False
    count: int = 0
    languages: tuple[str, ...] = ()
    source: str | None = None
    target: str | None = None


def second_starts(tokens: Sequence[Token]) -> int | None:
    """The position of the second sentence's first token, after a separator like the one at the end; None without."""
    ids = [token.id for token in tokens]
    if not tokens or not tokens[-1].special or ids.index(ids[-1]) == len(ids) - 1:
        return None
    start = ids.index(ids[-1]) + 1
    return start if start < len(ids) - 1 else None


def visible(text: str) -> str:
    """Make spaces, line breaks, control and direction characters visible, so that nothing hides or reorders a label."""
    if text and all(map(_of_an_emoji, text)):  # inside an emoji they are part of it; alone they would be invisible
        return "".join(f"⟨{ord(character):04X}⟩" for character in text)
    alone = unicodedata.category(text[:1] or " ").startswith("M") and not _of_an_emoji(text[0])
    return CIRCLE * alone + "".join(map(_visible_character, text)) or "⟨⟩"


def _of_an_emoji(character: str) -> bool:
    """Whether it joins two emoji, or selects how the one before is displayed."""
    return character == JOINER or "\ufe00" <= character <= "\ufe0f"


def _visible_character(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    invisible = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co")
    return f"⟨{ord(character):04X}⟩" if invisible and character != JOINER else character
