"""The tokenizer of a folder, and whether it says what is asked of one."""

from __future__ import annotations

import sys
from pathlib import Path

from model_runner.errors import N_, TokenizerMissing, first_line
from model_runner.local.loading.folder_tokenizer import Opened, open_tokenizer, special_ids
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer


def load_tokenizer(name: str, folder: Path) -> Opened:
    """In this process. Raises TokenizerMissing."""
    try:
        tokenizer = open_tokenizer(folder)
    except Exception as error:  # the tokenizers library raises no class of its own
        raise TokenizerMissing(name=name, reason=first_line(error)) from error
    check_tokenizer(name, tokenizer)
    if not isinstance(tokenizer.model_max_length, int | float):  # compared with the length of every text
        tokenizer.model_max_length = sys.maxsize
    return tokenizer


def check_tokenizer(name: str, tokenizer: Tokenizer) -> None:
    """Raises TokenizerMissing for one that is of no use here."""
    if not tokenizer.is_fast:
        raise TokenizerMissing(name=name, reason=N_("it does not tell which characters a token covers"))
    if len(tokenizer) <= len(special_ids(tokenizer)):  # what transformers makes of no files at all
        raise TokenizerMissing(name=name, reason=N_("it knows no token but special ones"))
