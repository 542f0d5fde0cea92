"""Reads tokenizer.json apart from its vocabulary and merges, and reuses the model of entries that a class made from it.

transformers (5.23) gives a class with an initializer of its own the file's vocabulary and merges. If the class keeps
them unchanged, both tokenize with the same model, and building it a second time would add a fifth to the load for
nothing. This module does not import torch.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import re
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend
from transformers import TokenizersBackend

RULES = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")  # how an added token is matched
PARTS = ("added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")  # the parts before the model
OPTIONS = (  # options of a model other than its entries, by kind
    "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges",
    "dropout", "max_input_chars_per_word",
)  # fmt: skip
METHOD = "convert_to_native_format"  # of TokenizersBackend: from the file to a class's arguments
END, ENDING = re.compile(r"[\]}]\s*\}\s*\}\s*$"), 64  # of the merges or the vocabulary, the model, and all


@dataclass(eq=False)
class GivenFile:
    """What a class was given from a file; ``file`` is None until then."""

    file: str | None = None
    vocab: Any = None
    merges: Any = None


_GIVEN: contextvars.ContextVar[GivenFile | None] = contextvars.ContextVar("attention_atlas_given", default=None)


@contextlib.contextmanager
def heard() -> Generator[GivenFile]:
    """Collect what classes are given from tokenizer.json in this context."""
    token = _GIVEN.set(given := GivenFile())
    try:
        with _WATCH:
            yield given
    finally:
        _GIVEN.reset(token)


def file_with_model_of(made: Any, file: Path, given: GivenFile) -> Any | None:
    """The file's tokenizer with the model that ``made`` uses; None unless that is known to be the file's own."""
    vocab, merges = getattr(made, "_vocab", None), getattr(made, "_merges", None) or []
    if given.file != str(file) or not isinstance(vocab, dict) or vocab != given.vocab or merges != (given.merges or []):
        return None
    own, parts = made.backend_tokenizer, _without_entries(file.read_bytes().decode("utf-8"))
    if parts is None or own.get_vocab_size(with_added_tokens=False) != len(vocab):
        return None
    found: Any = Backend.from_str(json.dumps({**parts, "added_tokens": []}))
    # "" counts as none
    options = [[getattr(one.model, name, None) or None for name in OPTIONS] for one in (found, own)]
    if type(found.model) is not type(own.model) or options[0] != options[1]:
        return None
    found.model = own.model
    tokens = sorted(parts["added_tokens"], key=lambda one: one["id"])
    found.add_tokens([AddedToken(**{name: one[name] for name in RULES}) for one in tokens])
    return found if all(found.token_to_id(one["content"]) == one["id"] for one in tokens) else None


def _without_entries(text: str) -> dict[str, Any] | None:
    """The file with an empty model; None unless it is in transformers' own order, with the entries last."""
    start = text.find('"vocab"', max(text.find('"model"'), 0))
    if start < 0 or END.search(text[-ENDING:]) is None:
        return None
    with contextlib.suppress(ValueError):
        parts = json.loads(text[:start].rstrip().removesuffix(",") + "}}")
        if isinstance(parts.get("model"), dict) and "merges" not in parts["model"] and parts.keys() >= set(PARTS):
            more = {"merges": []} if parts["model"].get("type") == "BPE" else {}
            return {**parts, "truncation": None, "padding": None, "model": {**parts["model"], "vocab": {}, **more}}
    return None


class _Watch:
    """Reports what transformers' classes are given while there is a listener; other code sees no change."""

    def __init__(self) -> None:
        self._lock, self._listeners = threading.Lock(), 0
        self._own: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._listeners += 1
            if self._listeners == 1:
                self._own = vars(TokenizersBackend)[METHOD]
                setattr(TokenizersBackend, METHOD, classmethod(_telling(self._own.__func__)))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._listeners -= 1
            if self._listeners == 0:
                setattr(TokenizersBackend, METHOD, self._own)


def _telling(convert: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def tell(cls: Any, *args: Any, **settings: Any) -> dict[str, Any]:
        found = convert(cls, *args, **settings)
        if (given := _GIVEN.get()) is not None:
            given.file = settings.get("tokenizer_file")
            given.vocab, given.merges = found.get("vocab"), found.get("merges")
        return found

    return tell


_WATCH = _Watch()
