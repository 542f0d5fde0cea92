"""Text to tokens: ids, texts that can be shown, and the characters each token covers."""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from model_runner.errors import EmptyText, NotText

VISIBLE = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍"}
JOINER = "\u200d"
BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")  # SentencePiece's byte fallback


@dataclass(frozen=True)
class Token:
    """One token: ``text`` is for display (a leading space is ``·``), ``start`` and ``end`` count characters.

    The bytes of one character that was split cover that same character and show as ``⟨F0⟩``. A token that stands for
    no characters of the text (``⟨bos⟩``) is ``special`` and has ``start == end``.
    """

    id: int
    text: str
    start: int
    end: int
    special: bool = False


@dataclass(frozen=True)
class Encoded:
    """Token ids and, for each, the characters ``(start, end)`` it covers."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> Encoded:
    """The model's own token ids of the text, special tokens included.

    Raises EmptyText for a text that is blank or leaves no token, NotText where a lone surrogate makes it unencodable.
    """
    if not text.strip():
        raise EmptyText()
    for position, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise NotText(position=position, code=f"{ord(character):04X}")
    encoded: Any = tokenizer(text, return_offsets_mapping=True, verbose=False)
    if not encoded["input_ids"]:
        raise EmptyText()
    return Encoded(tuple(encoded["input_ids"]), tuple(map(tuple, encoded["offset_mapping"])))


def longest_start(tokenizer: PreTrainedTokenizerBase, text: str, encoded: Encoded, limit: int) -> int:
    """How many characters from the start of a text surely make no more than ``limit`` tokens; it makes more itself."""
    characters = max(end for _, end in encoded.spans[:limit])
    while characters > 0:  # cut, the last word may fall apart, and a special token may follow it
        count = len(tokenizer(text[:characters], verbose=False)["input_ids"])
        if count <= limit:
            break
        characters -= count - limit
    return max(0, characters)


def tokens_of(tokenizer: PreTrainedTokenizerBase, encoded: Encoded) -> tuple[Token, ...]:
    """The tokens with their texts for display."""
    special = set(tokenizer.all_special_ids)
    texts = {token_id: display(tokenizer, token_id) for token_id in set(encoded.ids)}
    return tuple(
        Token(token_id, texts[token_id], start, end, token_id in special)
        for token_id, (start, end) in zip(encoded.ids, encoded.spans, strict=True)
    )


def display(tokenizer: PreTrainedTokenizerBase, token_id: int) -> str:
    """A token as it is drawn: never empty, spaces and control characters visible, lone bytes as ``⟨F0⟩``."""
    piece = tokenizer.convert_ids_to_tokens(token_id)
    if not isinstance(piece, str):  # an id beyond the tokenizer: some models pad their vocabulary
        return f"⟨{token_id}⟩"
    if token_id in tokenizer.all_special_ids:
        return "⟨" + piece.strip("<>|[]") + "⟩"
    if _is_byte_level(tokenizer) and all(character in _byte_of() for character in piece):  # else added as it is
        raw = bytes(_byte_of()[character] for character in piece)
        try:
            return visible(raw.decode("utf-8"))
        except UnicodeDecodeError:
            return "⟨" + raw.hex(" ").upper() + "⟩"
    if lone_byte := BYTE_PIECE.fullmatch(piece):
        return "⟨" + lone_byte[1].upper() + "⟩"
    return visible(piece.replace("▁", " "))


def visible(text: str) -> str:
    """Spaces, line breaks, control and direction characters made visible, so that nothing hides or reorders a label."""
    if text == JOINER:  # between two emoji it is what makes them one; alone it would be nothing
        return f"⟨{ord(text):04X}⟩"
    return "".join(map(_visible_character, text)) or "⟨⟩"


def _visible_character(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    if character < "\x20":
        return chr(0x2400 + ord(character))  # Unicode's control pictures
    invisible = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co")
    return f"⟨{ord(character):04X}⟩" if invisible and character != JOINER else character


def _is_byte_level(tokenizer: PreTrainedTokenizerBase) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and "ByteLevel" in str(backend.decoder)


@functools.cache
def _byte_of() -> dict[str, int]:
    return {character: byte for byte, character in bytes_to_unicode().items()}
