"""Tokenizes with SentencePiece itself, with the span of each piece, for a folder that has only SentencePiece files.

transformers (5.23) does not always make of such files what they say. mBART's normalization is left out, a space before
the first word is lost (Llama), languages come in another order or not at all (NLLB), and the classes that call
SentencePiece (Marian, M2M100) do not tell which characters a piece covers. So ids, special tokens and templates are
those of the class, and the pieces are SentencePiece's. This module does not import torch, since a subprocess runs it
too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sentencepiece import SentencePieceProcessor
from tokenizers import AddedToken
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB_CODES
from transformers.tokenization_python import Trie

from model_runner.local.loading.tokenizer_languages import languages_of

# Classes that pass the text to SentencePiece unchanged; others modify it first (Albert, XLNet, Pegasus, DeBERTa).
PURE = (
    "BertGenerationTokenizer", "LlamaTokenizer", "M2M100Tokenizer", "MarianTokenizer", "MBart50Tokenizer",
    "MBartTokenizer", "NllbTokenizer", "T5Tokenizer", "XLMRobertaTokenizer",
)  # fmt: skip
# Families whose settings name no class; transformers 5.23 has none, or another, for some of them.
CLASS_OF = {
    "bert-generation": "BertGenerationTokenizer", "llama": "LlamaTokenizer", "longt5": "T5Tokenizer",
    "m2m_100": "M2M100Tokenizer", "marian": "MarianTokenizer", "mbart": "MBartTokenizer", "mistral": "LlamaTokenizer",
    "mixtral": "LlamaTokenizer", "mt5": "T5Tokenizer", "nllb-moe": "NllbTokenizer",
    "switch_transformers": "T5Tokenizer", "t5": "T5Tokenizer", "umt5": "T5Tokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
}  # fmt: skip
FILES = ("source.spm", "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model")
OPTIONAL = ("tokenizer_file", "tokenizer_config_file", "target_vocab_file")
TARGET = "target.spm"  # for Marian's output language
LARGEST = 64 << 20  # bytes; the largest published ones have 5 million
SPACE = "▁"
A_WORD = "a"  # any text, to see which tokens surround it


def pieces_file(folder: Path) -> Path | None:
    """The folder's SentencePiece file; if there are two, the one for input."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_pieces(file: Path) -> SentencePieceProcessor:
    """Load the file. Raises ValueError if it is invalid.

    When a model is loaded, its size is checked first (`loader.py`).
    """
    try:
        return SentencePieceProcessor(model_file=str(file))
    except (RuntimeError, OSError) as error:
        raise ValueError(f"{file.name} is not a SentencePiece model") from error


def class_name(folder: Path) -> str:
    """The class of a folder's tokenizer, from its settings or its family."""
    settings, config = (_object(folder / name) for name in ("tokenizer_config.json", "config.json"))
    named = settings.get("tokenizer_class") or config.get("tokenizer_class")
    if named is None and config.get("model_type") == "m2m_100" and not (folder / "vocab.json").is_file():
        named = "NllbTokenizer"
    return str(named or CLASS_OF.get(str(config.get("model_type")))).removesuffix("Fast")


def piece_tokenizer(folder: Path, file: Path) -> PieceTokenizer | None:
    """None for a class that is not in PURE. Raises ValueError, and whatever the class raises for its other files."""
    name, pieces = class_name(folder), read_pieces(file)
    if name not in PURE:
        return None
    target = read_pieces(folder / TARGET) if (folder / TARGET).is_file() else None
    kind: Any = tokenizer_class_from_name(name)
    needed = [file for use, file in kind.vocab_files_names.items() if use not in OPTIONAL]
    if missing := [file for file in needed if not (folder / file).is_file()]:
        raise ValueError(f"{missing[0]} is missing")
    made = kind.from_pretrained(folder, local_files_only=True)
    if getattr(made, "separate_vocabs", False):
        raise ValueError("it has one vocabulary for what is read and another for what is written")
    return PieceTokenizer(made, pieces, target)


class PieceTokenizer:
    """Provides what :mod:`model_runner.local.tokenizing` needs, from a transformers class and its pieces."""

    is_fast = True

    def __init__(self, made: Any, pieces: SentencePieceProcessor, target: SentencePieceProcessor | None) -> None:
        self._made, self._pieces, self._target = made, pieces, target
        self.name = type(made).__name__
        self.two_sided = target is not None
        self.chat_template, self.apply_chat_template = made.chat_template, made.apply_chat_template
        self.model_max_length = made.model_max_length
        self.backend_tokenizer = SimpleNamespace(decoder=SPACE)
        self._vocabulary, self._around = self._vocabulary_and_around()
        self._piece_of = {token_id: piece for piece, token_id in self._vocabulary.items()}
        self._added: dict[str, AddedToken] = {token.content: token for token in made.added_tokens_decoder.values()}
        self._whole = {*self._added, *made.all_special_tokens}
        self._trie = Trie(self._whole)
        self._no_start = made.init_kwargs.get("add_prefix_space") is False
        self._one_start = made.init_kwargs.get("legacy") is False  # a space only before the first word of the text
        self.unk_token_id: int | None = self._id(made.unk_token)
        self.mask_token_id: int | None = self._id(made.mask_token)
        named = (self._id(token) for token in made.all_special_tokens)
        languages = languages_of(self).values()
        self.all_special_ids = sorted({*(one for one in named if one is not None), *languages})

    def __call__(
        self, text: str, second: str | None = None, *, add_special_tokens: bool = True, target: bool = False, **_: Any
    ) -> dict[str, list[Any]]:
        """Ids, and the characters that each covers; with ``target``, for output rather than input."""
        found = list(self._cut(text, target=target))
        if second is not None:
            found += self._cut(second, target=target)
        before, after = self._around if add_special_tokens else ((), ())
        spans = [(0, 0)] * len(before) + [span for _, span in found] + [(0, 0)] * len(after)
        return {"input_ids": [*before, *(token_id for token_id, _ in found), *after], "offset_mapping": spans}

    def convert_ids_to_tokens(self, token_id: int) -> str | None:
        """The token as it is in the vocabulary; None if the id is out of range."""
        return self._piece_of.get(token_id)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these tokens."""
        return self._pieces.decode([piece for one in ids if (piece := self._piece_of.get(one)) is not None])

    def get_vocab(self) -> dict[str, int]:
        """The id of every token, special ones included."""
        return self._vocabulary

    def get_added_vocab(self) -> dict[str, int]:
        """The ids of added tokens that are not pieces."""
        return {token: one for token, one in self._vocabulary.items() if not self._is_piece(token)}

    def __len__(self) -> int:
        return len(self._vocabulary)

    # -- its words ----------------------------------------------------------------------------------------------------

    def _vocabulary_and_around(self) -> tuple[dict[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
        """The ids, and the tokens that surround every text on either side."""
        made, pieces = self._made, self._pieces
        if self.name == "NllbTokenizer" and not languages_of(made):  # transformers 5.23 omits them
            words = ["<s>", "<pad>", "</s>", "<unk>", *map(pieces.id_to_piece, range(3, pieces.get_piece_size()))]
            ids = {word: place for place, word in enumerate([*words, *NLLB_CODES, "<mask>"])}
            language, end = ids[made.src_lang], ids["</s>"]
            return ids, (((), (end, language)) if made.legacy_behaviour else ((language,), (end,)))
        own = {**made.encoder, **made.added_tokens_encoder} if hasattr(made, "encoder") else made.get_vocab()
        ids = {str(piece): int(token_id) for piece, token_id in own.items()}
        if self.name == "M2M100Tokenizer":
            ids |= made.lang_token_to_id
        with_them, without = (list(made(A_WORD, add_special_tokens=all_of)["input_ids"]) for all_of in (True, False))
        start = next(at for at in range(len(with_them)) if with_them[at : at + len(without)] == without)
        return ids, (tuple(with_them[:start]), tuple(with_them[start + len(without) :]))

    def _is_piece(self, token: str) -> bool:
        found = self._pieces.piece_to_id(token)
        return self._pieces.id_to_piece(found) == token and not self._pieces.is_control(found)

    def _id(self, token: object) -> int | None:
        return None if token is None else self._vocabulary.get(str(token))

    # -- its cuts -----------------------------------------------------------------------------------------------------

    def _cut(self, text: str, *, target: bool) -> Iterator[tuple[int, tuple[int, int]]]:
        """The ids without those that surround a text, each with the characters ``(start, end)`` that it covers."""
        pieces = self._target if target and self._target is not None else self._pieces
        first = True
        for start, part in self._parts(text):
            if part in self._whole:
                yield self._of(part), (start, start + len(part))
            else:
                code = part[: part.find("<<") + 2] if self.name == "MarianTokenizer" and part[:2] == ">>" else ""
                if code:  # the code of the output language, before the text
                    yield self._of(code), (start, start + len(code))
                joined = self._no_start or (self._one_start and not first)
                for piece, (begin, end) in cut(pieces, part[len(code) :], str(self._made.unk_token) if joined else ""):
                    yield self._of(piece), (start + len(code) + begin, start + len(code) + end)
            first = False

    def _of(self, piece: str) -> int:
        found = self._vocabulary.get(piece, self.unk_token_id)
        return 0 if found is None else found

    def _parts(self, text: str) -> Iterator[tuple[int, str]]:
        """Split the text at added tokens, as transformers' Python tokenizers do."""
        parts = list(map(str, self._trie.split(text)))
        starts = [0, *accumulate(map(len, parts))][: len(parts)]
        for place, part in enumerate(parts):
            token = self._added.get(part)
            if token is None:
                continue
            left, right = parts[:place][-1:], parts[place + 1 : place + 2]
            if token.rstrip and right:
                parts[place + 1] = right[0].lstrip()
                starts[place + 1] += len(right[0]) - len(parts[place + 1])
            if token.lstrip and left:
                parts[place - 1] = left[0].rstrip()
            if token.single_word and left and left[0] and left[0][-1] != " ":
                parts[place - 1 : place + 1] = parts[place - 1] + part, ""
            elif token.single_word and right and right[0] and right[0][0] != " ":
                parts[place : place + 2] = "", part + parts[place + 1]
                starts[place + 1] = starts[place]
        yield from ((start, part) for start, part in zip(starts, parts, strict=True) if part)


def cut(pieces: SentencePieceProcessor, text: str, after: str = "") -> list[tuple[str, tuple[int, int]]]:
    """Pieces, each with the span of text that it covers; with ``after``, cut as they would be after that text.

    A character that makes several pieces is covered by each of them. The space that SentencePiece puts before a first
    word covers nothing.
    """
    made: Any = pieces.encode(after + text, return_type="offset_mapping")
    normal, places = pieces.normalize(after + text, with_offsets=True)
    spans = _spans(pieces, made, normal, places)
    found = list(zip(made["pieces"], spans or made["offsets"], strict=True))
    if after:
        count = len(pieces.encode(after, return_type=int))
        found = [(piece, (max(0, a - len(after)), max(0, b - len(after)))) for piece, (a, b) in found[count:]]
    return found


def _spans(pieces: SentencePieceProcessor, made: Any, normal: str, places: Sequence[int]) -> list[tuple[int, int]]:
    """Spans from the normalized text, if the pieces join to exactly that text; otherwise empty."""
    raw, at = normal.encode(), 0
    character = [place for place, one in enumerate(normal) for _ in one.encode()]  # for each byte
    ends = [*places]  # for each character of the normalized text, its position in the text
    for place in reversed(range(len(normal))):
        ends[place] = ends[place + 1] if places[place] == places[place + 1] else places[place + 1]
    put_before = len(normal) > 1 and normal[0] == SPACE and places[0] == places[1]
    spans = list[tuple[int, int]]()
    for token_id, piece in zip(made["ids"], made["pieces"], strict=True):
        written = bytes([int(piece[3:5], 16)]) if pieces.is_byte(token_id) else piece.encode()
        if raw[at : at + len(written)] != written or not written:
            return []
        first, last = character[at], character[at + len(written) - 1]
        at += len(written)
        spans.append((places[first], places[first] if put_before and last == 0 else ends[last]))
    return spans if at == len(raw) else []


def _object(file: Path) -> dict[str, Any]:
    value = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return value if isinstance(value, dict) else {}
