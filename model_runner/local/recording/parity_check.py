"""Compares a model's forward without and with recording, once, at load.

A model may read its attention implementation in other places than the attention function it calls. Whatever the reason,
a forward that changes when it is recorded is not the model's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

import torch
from torch import Tensor

from model_runner.errors import N_, Reason, first_line
from model_runner.local.recording.recorder import CannotRecord

BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

NO_NUMBERS = N_("its output is not a number (NaN): its weights are damaged, or too large for this number format")


def text_config(model: Any) -> Any:
    """The configuration of the text model; multimodal models have several."""
    return model.config.get_text_config(decoder=True)


@contextlib.contextmanager
def tried(sentence: str) -> Generator[None]:
    """Runs the model's own code on a few tokens. Raises CannotRecord: the sentence, with its ``{error}``."""
    try:
        yield
    except BROKEN as error:
        if isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error):
            raise
        raise CannotRecord(Reason(sentence, {"error": first_line(error)})) from error


def plain_forward(model: Any, ids: Tensor) -> Tensor:
    """The model's output for these tokens before recording is installed. Raises CannotRecord, also for NaN."""
    with tried(N_("it does not run on a text alone ({error})")):
        return of_numbers(said(run(model, ids)))


def run(model: Any, ids: Tensor) -> Any:
    """Run one forward over these tokens, without a cache."""
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False, return_dict=True)


def said(output: Any) -> Tensor:
    """The logits, or, without an output layer, the last hidden state."""
    return output.logits if torch.is_tensor(getattr(output, "logits", None)) else output.last_hidden_state


def of_numbers(found: Tensor) -> Tensor:
    """The same tensor; −inf marks a token that the model excludes. Raises CannotRecord for NaN."""
    if bool(found.isnan().any()):
        raise CannotRecord(NO_NUMBERS)
    return found


def same(recorded: Tensor, plain: Tensor) -> bool:
    """Whether they differ only by rounding: the first half of the digits agree."""
    finite = plain.isfinite()
    if not torch.equal(recorded.isfinite(), finite):
        return False
    size = plain[finite].float()
    return bool((recorded[finite].float() - size).norm() <= torch.finfo(plain.dtype).eps ** 0.5 * size.norm())
