"""Runs the tokenizer of an untrusted folder in a subprocess, which passes only ids and strings to this process.

It provides the methods that :mod:`model_runner.local.tokenizing` calls on transformers' tokenizers. A text or a chat
template that exceeds its time or memory limit ends the subprocess; the next text starts another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from model_runner import memory
from model_runner.errors import N_, ChatTemplateFails, Reason, TokenizerFails, TokenizerMissing
from model_runner.local.loading.folder_tokenizer import KINDS, Opened
from model_runner.local.loading.sandboxed_process import SandboxedProcess, SandboxLimitReached

MEMORY = 3 << 29  # bytes that a subprocess may use, but no more than half of the free memory
LEAST = 1 << 29  # but at least this much, with which it can report what is wrong
LOADING, TEXT, TEMPLATE = 60.0, 10.0, 5.0  # seconds
TOO_MUCH = N_("it needs more than {seconds} seconds or {memory} of memory")


def too_much(process: SandboxedProcess, seconds: float) -> Reason:
    """Why a subprocess was killed."""
    return Reason(TOO_MUCH, {"seconds": f"{seconds:g}", "memory": memory.readable(process.memory)})


def start_sandbox(duty: str, folder: Path, **more: Any) -> SandboxedProcess:
    """A process limited to a share of the free memory."""
    share = min(MEMORY, max(LEAST, memory.available(torch.device("cpu")) // 2))
    return SandboxedProcess(duty, folder, memory=share, **more)


class SandboxedTokenizer:
    """The process is started at once; :meth:`load` waits for it."""

    is_fast = True

    def __init__(self, folder: Path) -> None:
        self._process = start_sandbox("tokenizer", folder, first=({"ask": "load"}, LOADING))
        self._pieces: dict[int, str] = {}
        self._length = 0
        self._added: dict[str, int] = {}
        self.all_special_ids: list[int] = []
        self.mask_token_id: int | None = None
        self.unk_token_id: int | None = None
        self.tgt_lang: str | None = None
        self.two_sided = False  # whether the output language has a file of its own
        self.model_max_length: int | None = None
        self.chat_template = False  # whether there is one
        self.backend_tokenizer = SimpleNamespace(decoder="")

    def load(self, name: str, check: Callable[[], None]) -> None:
        """Wait until the tokenizer is loaded. Raises TokenizerMissing, and whatever ``check`` raises."""
        try:
            facts = self._process.ask({"ask": "load"}, LOADING, check)
        except SandboxLimitReached as error:
            raise TokenizerMissing(name=name, reason=too_much(self._process, LOADING)) from error
        if "error" in facts:
            raise TokenizerMissing(name=name, reason=facts["error"])
        self.is_fast, self.chat_template = facts["is_fast"], facts["chat"]
        self._pieces, self._length, self.all_special_ids = dict(facts["pieces"]), facts["length"], facts["special"]
        self.model_max_length, self.backend_tokenizer.decoder = facts["longest"], facts["decoder"]
        self.mask_token_id, self.unk_token_id = facts["mask"], facts["unknown"]
        self._added, self.tgt_lang, self.two_sided = facts["added"], facts["target"], facts["two_sided"]
        setattr(self, KINDS, tuple(facts["kinds"]))

    def __call__(
        self, text: str, second: str | None = None, *, add_special_tokens: bool = True, target: bool = False, **_: Any
    ) -> dict[str, list[Any]]:
        """Ids and spans of one or two texts, and token types if there are any. Raises TokenizerFails."""
        asked: Any = {"texts": [text] if second is None else [text, second], "target": target}
        return self._ask(TEXT, TokenizerFails, ask="encode", add_special_tokens=add_special_tokens, **asked)

    def apply_chat_template(self, turns: Sequence[dict[str, str]], **_: Any) -> str:
        """Format the turns as the model expects them, up to where its answer begins. Raises ChatTemplateFails."""
        return self._ask(TEMPLATE, ChatTemplateFails, ask="template", turns=list(turns))["text"]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these tokens. Raises TokenizerFails."""
        return self._ask(TEXT, TokenizerFails, ask="decode", ids=list(ids))["text"]

    def convert_ids_to_tokens(self, token_id: int) -> str | None:
        """The token as it is in the vocabulary; None if the id is out of range."""
        return self._pieces.get(token_id)

    def get_added_vocab(self) -> dict[str, int]:
        """The ids of its added tokens, by their text."""
        return self._added

    def __len__(self) -> int:
        """The number of tokens in the vocabulary, including special ones."""
        return self._length

    def close(self) -> None:
        """End its process."""
        self._process.close()

    def _ask(self, seconds: float, failure: type[TokenizerFails | ChatTemplateFails], **question: Any) -> Any:
        try:
            answer = self._process.ask(question, seconds)
        except SandboxLimitReached as error:
            raise failure(reason=too_much(self._process, seconds)) from error
        if "error" in answer:
            raise failure(reason=answer["error"])
        return answer


class SandboxedTemplate:
    """A chat template of a folder whose tokenizer is harmless; its process starts at the first call."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder
        self._tokenizer: SandboxedTokenizer | None = None

    def __call__(self, turns: Sequence[dict[str, str]], **_: Any) -> str:
        """Like :meth:`SandboxedTokenizer.apply_chat_template`. Also raises TokenizerMissing."""
        if self._tokenizer is None:
            loaded = SandboxedTokenizer(self._folder)
            loaded.load(self._name, lambda: None)
            self._tokenizer = loaded
        return self._tokenizer.apply_chat_template(turns)


Tokenizer = Opened | SandboxedTokenizer
