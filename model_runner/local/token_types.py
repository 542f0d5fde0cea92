"""The inputs of a model for a text: the ids and, if it learned two token types, which sentence each token is in.

BERT and its relatives add a vector to the tokens of the second of two sentences, including its separator. The ids tell
which tokens these are, so that a pair written as one text, ``A [SEP] B``, is read as transformers reads ``tokenizer(A,
B)``. If the model's own tokenizer gives a pair other types than these, or none (RoBERTa), the model is given none
either.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from model_runner.errors import TokenizerFails, UserFacingError, first_line
from model_runner.local.loading.folder_tokenizer import special_ids
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.local.recording.parity_check import text_config
from model_runner.tokens import Token, second_starts

TYPES = "token_type_ids"


class ModelInputs:
    """The inputs for the forwards of a model with a single stack."""

    def __init__(self, model: Any, backbone: nn.Module, tokenizer: Tokenizer) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._learned = learned_types(model, backbone)

    def of(self, tokens: Sequence[Token]) -> dict[str, Int[Tensor, "1 tokens"]]:
        """Keyword arguments for both the model and its backbone. Raises TokenizerFails."""
        ids = torch.tensor([[token.id for token in tokens]], device=self._model.device)
        return {"input_ids": ids, **self.types(tokens)}

    def types(self, tokens: Sequence[Token]) -> dict[str, Int[Tensor, "1 tokens"]]:
        """The types alone; empty if all are the first, which is the model's default. Raises TokenizerFails."""
        start = second_starts(tokens)
        if start is None or not self._learned or not self._marks_second:
            return {}
        return {TYPES: _types(len(tokens), start).to(self._model.device)}

    @functools.cached_property
    def _marks_second(self) -> bool:
        return marks_second(self._tokenizer)  # determined at the first pair


def learned_types(model: Any, backbone: nn.Module) -> bool:
    """Whether the model reads whole texts, and takes one of at least two types per token."""
    config = text_config(model)
    several = getattr(config, "type_vocab_size", None)  # TAPAS has a table of seven, under another name
    takes = all(TYPES in inspect.signature(one.forward).parameters for one in (model, backbone))
    return takes and isinstance(several, int) and several > 1 and not getattr(config, "is_decoder", False)


def marks_second(tokenizer: Tokenizer) -> bool:
    """Whether ``tokenizer(a, b)`` gives type 1 to what follows the first separator, and to nothing else.

    Raises TokenizerFails.
    """
    try:
        pair: Any = tokenizer("a", "b", verbose=False)
    except (UserFacingError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a regex that gives up is a panic of the tokenizers library, not an Exception
        raise TokenizerFails(reason=first_line(error)) from error
    ids, given = list(pair["input_ids"]), pair.get(TYPES)
    special = set(special_ids(tokenizer))
    start = second_starts([Token(one, "", 0, 0, one in special) for one in ids])
    return given is not None and start is not None and list(given) == _types(len(ids), start)[0].tolist()


def _types(count: int, start: int) -> Int[Tensor, "1 tokens"]:
    return (torch.arange(count) >= start).long()[None]
