"""The languages that a tokenizer has tokens for, recognized by the form of these tokens. Does not import torch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

WRITTEN = (  # the form of a language token, in several conventions
    re.compile(r"__([a-z]{2,3})__"),  # M2M100, SeamlessM4T: __fr__
    re.compile(r"([a-z]{3}_[A-Z][a-z]{3})"),  # NLLB: fra_Latn
    re.compile(r"([a-z]{2}_[A-Z]{2})"),  # mBART: fr_XX
)


def languages_in(added: Mapping[str, int]) -> dict[str, int]:
    """The id of each language's token by code, such as fr, fra_Latn or fr_XX; empty unless there are at least two."""
    for pattern in WRITTEN:
        found = {match[1]: int(token_id) for token, token_id in added.items() if (match := pattern.fullmatch(token))}
        if len(found) > 1:
            return found
    return {}


def languages_of(tokenizer: Any) -> dict[str, int]:
    """The same for a tokenizer, in any process."""
    return languages_in(tokenizer.get_added_vocab())


def source_of(tokenizer: Any, languages: dict[str, int]) -> str | None:
    """The code of the language that it assumes its input to be in."""
    around = tokenizer("a")["input_ids"] if languages else []
    return next((code for code, token_id in languages.items() if token_id in around), None)
