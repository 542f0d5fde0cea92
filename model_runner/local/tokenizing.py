"""Converts text to token ids with the characters that each covers, and tokens back to text, one at a time."""

from __future__ import annotations

import codecs
import functools
import re
from dataclasses import dataclass
from typing import Any

from transformers.convert_slow_tokenizer import bytes_to_unicode

from model_runner.errors import ChatTemplateFails, EmptyText, NoChatTemplate, NotText, TokenizerFails, UserFacingError
from model_runner.local.loading.folder_tokenizer import special_ids
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.tokens import Token, visible

BYTE_LEVEL = "ByteLevel"  # in the description of a tokenizer's decoder: its pieces are made of bytes


BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")  # SentencePiece's byte fallback


@dataclass(frozen=True)
class Encoded:
    """Token ids and, for each, the characters ``(start, end)`` of ``text`` it covers."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    text: str


def encode(
    tokenizer: Tokenizer, text: str, *, chat: bool = False, special: bool = True, written: bool = False
) -> Encoded:
    """Tokenize the text with the model's tokenizer, with special tokens unless ``special`` is false.

    With ``chat``, the text is put into the model's chat template, up to where its answer begins. ``written``: the text
    is a decoder's output, for which some tokenizers have a file of their own, and may be blank. Raises EmptyText for a
    text that is blank or leaves no token, NotText if a lone surrogate makes it unencodable, NoChatTemplate,
    ChatTemplateFails, and TokenizerFails.
    """
    if not (written or text.strip()):
        raise EmptyText()
    for position, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise NotText(position=position, code=f"{ord(character):04X}")
    whole = _in_template(tokenizer, text) if chat else text
    more: Any = {"target": True} if written and getattr(tokenizer, "two_sided", False) else {}
    try:
        encoded: Any = tokenizer(
            whole, return_offsets_mapping=True, verbose=False, add_special_tokens=special and not chat, **more
        )
    except (UserFacingError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a regex that gives up is a panic of the tokenizers library, not an Exception
        raise TokenizerFails(reason=_said(error)) from error
    if not (written or encoded["input_ids"]):
        raise EmptyText()
    return Encoded(tuple(encoded["input_ids"]), tuple(map(tuple, encoded["offset_mapping"])), whole)


def _in_template(tokenizer: Tokenizer, text: str) -> str:
    if not tokenizer.chat_template:
        raise NoChatTemplate()
    turns = [{"role": "user", "content": text}]
    try:
        return str(tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))
    except UserFacingError:
        raise
    except Exception as error:  # a template may raise anything
        raise ChatTemplateFails(reason=_said(error)) from error


def _said(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:200]


def longest_start(tokenizer: Tokenizer, text: str, encoded: Encoded, limit: int) -> int:
    """The length of a prefix that surely makes at most ``limit`` tokens, for a text that makes more."""
    characters = max(end for _, end in encoded.spans[:limit])
    while characters > 0:  # a cut may split the last word, and a special token may follow it
        count = len(tokenizer(text[:characters], verbose=False)["input_ids"])
        if count <= limit:
            break
        characters -= count - limit
    return max(0, characters)


def tokens_of(tokenizer: Tokenizer, encoded: Encoded) -> tuple[Token, ...]:
    """The tokens with their texts for display."""
    # Asked once what the tokenizer makes anew each time it is asked: a long text has thousands of ids.
    special, mask, decoder = set(special_ids(tokenizer)), tokenizer.mask_token_id, _decoder(tokenizer)
    texts = {token_id: _shown(tokenizer, token_id, token_id in special, decoder) for token_id in set(encoded.ids)}
    unknown = special & {_unknown(tokenizer)}  # to characters, it is a token of the text like others

    def stands_for_none(token_id: int, start: int, end: int) -> bool:
        return token_id in special and not (token_id in unknown and start < end)

    return tuple(
        Token(token_id, texts[token_id], *span, stands_for_none(token_id, *span), hidden=token_id == mask)
        for token_id, span in zip(encoded.ids, encoded.spans, strict=True)
    )


class Writer:
    """Appends tokens to a text one at a time, each with the characters that it adds; characters never change
    afterwards.

    A character whose bytes are split among several tokens is covered by each of them; until the last one comes, it
    counts as one replacement character. Special tokens add none.
    """

    def __init__(self, tokenizer: Tokenizer, encoded: Encoded) -> None:
        self._tokenizer = tokenizer
        self._special = set(special_ids(tokenizer))  # which are determined anew at each call
        self._decoder = _decoder(tokenizer)
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._complete = encoded.text  # without the bytes of a character that is still incomplete
        # after each token: the number of complete characters, and whether one is incomplete
        self._marks = [(len(encoded.text), False)]
        self._given = len(encoded.ids)
        self.tokens = list(tokens_of(tokenizer, encoded))

    def text_of(self, n_tokens: int) -> str:
        """The text of the first ``n_tokens``, including the given ones; token spans refer to it."""
        complete, waiting = self._marks[n_tokens - self._given]
        return self._complete[:complete] + ("\ufffd" if waiting else "")

    def continuation(self, n_tokens: int) -> tuple[int, ...]:
        """The ids of the first ``n_tokens`` that come after the original text."""
        return tuple(token.id for token in self.tokens[self._given : n_tokens])

    def append(self, token_id: int) -> Token:
        """Append the next token."""
        special = token_id in self._special
        piece = b"" if special else self._piece(token_id)
        if self._marks[-1][1] and not 0x80 <= (piece or b"\0")[0] < 0xC0:  # the character before stays incomplete
            self._complete += self._bytes.decode(b"", final=True)
            self._bytes.reset()
        start = len(self._complete)
        self._complete += self._bytes.decode(piece)
        waiting = bool(self._bytes.getstate()[0])
        end = len(self._complete) + waiting
        text = _shown(self._tokenizer, token_id, special, self._decoder)
        token = Token(token_id, text, start, end, special)
        self._marks.append((len(self._complete), waiting))
        self.tokens.append(token)
        return token

    def _piece(self, token_id: int) -> bytes:
        """The bytes that a token adds after the one before it."""
        piece = self._tokenizer.convert_ids_to_tokens(token_id)
        if not isinstance(piece, str):  # an id outside the tokenizer's vocabulary
            return b""
        if BYTE_LEVEL in self._decoder:
            known = all(character in _byte_of() for character in piece)
            return bytes(_byte_of()[character] for character in piece) if known else piece.encode()
        if lone_byte := BYTE_PIECE.fullmatch(piece):
            return bytes([int(lone_byte[1], 16)])
        if "▁" in self._decoder:
            return piece.replace("▁", " ").encode()
        last = [token.id for token in self.tokens[-1:]]
        before, both = (str(self._tokenizer.decode(ids)) if ids else "" for ids in (last, [*last, token_id]))
        return both[len(before) :].encode()


def display(tokenizer: Tokenizer, token_id: int) -> str:
    """The display text of a token: never empty, with visible spaces and control characters; lone bytes as ``⟨F0⟩``."""
    return _shown(tokenizer, token_id, token_id in special_ids(tokenizer), _decoder(tokenizer))


def _unknown(tokenizer: Tokenizer) -> int | None:
    found: Any = tokenizer.unk_token_id
    return found


def _shown(tokenizer: Tokenizer, token_id: int, special: bool, decoder: str) -> str:
    piece = tokenizer.convert_ids_to_tokens(token_id)
    if not isinstance(piece, str):  # an id outside the tokenizer's vocabulary: some models pad theirs
        return f"⟨{token_id}⟩"
    if special:
        return "⟨" + piece.strip("<>|[]") + "⟩"
    if BYTE_LEVEL in decoder and all(character in _byte_of() for character in piece):  # otherwise added as it is
        raw = bytes(_byte_of()[character] for character in piece)
        try:
            return visible(raw.decode("utf-8"))
        except UnicodeDecodeError:
            return "⟨" + raw.hex(" ").upper() + "⟩"
    if lone_byte := BYTE_PIECE.fullmatch(piece):
        return "⟨" + lone_byte[1].upper() + "⟩"
    return visible(piece.replace("▁", " "))


def _decoder(tokenizer: Tokenizer) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return "" if backend is None else str(backend.decoder)


@functools.cache
def _byte_of() -> dict[str, int]:
    return {character: byte for byte, character in bytes_to_unicode().items()}
