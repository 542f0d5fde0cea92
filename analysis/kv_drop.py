"""The next token when the cache evicts or quantizes: which variants to try, and how far the prediction moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.distributions import kl
from model_runner.capture import Capture
from model_runner.edit_list import of_attention
from model_runner.edits import Edit, Int8Cache, KeepLast, OneEdit

MOST_WINDOWS = 48  # tried for a longer text, at increasing distances


@dataclass(frozen=True)
class CacheTrial:
    """One edited cache: its last ``window`` tokens, and the first ``sinks`` ones; ``window`` None: all, in int8."""

    window: int | None
    sinks: int

    @property
    def edits(self) -> tuple[OneEdit, ...]:
        """Edits of the attention whose cache it is."""
        return (Int8Cache(),) if self.window is None else (KeepLast(self.window, self.sinks),)


def edits_of(capture: Capture, trial: CacheTrial) -> tuple[Edit, ...]:
    """For a request; in an encoder-decoder model for the capture's attention."""
    return of_attention((), capture.request.attention, trial.edits)


@dataclass(frozen=True)
class Moved:
    """KL(the model's next token ‖ that with the edited cache), in bits."""

    trial: CacheTrial
    kl: float


def windows(n_tokens: int) -> list[int]:
    """Every window of a short text; for a longer one at most MOST_WINDOWS, in a geometric sequence. The last is all."""
    if n_tokens <= MOST_WINDOWS:
        return list(range(1, n_tokens + 1))
    return sorted({round(number) for number in np.geomspace(1, n_tokens, MOST_WINDOWS)})


def trials(n_tokens: int, sinks: int) -> list[CacheTrial]:
    """int8, then every window without sinks and with them."""
    return [CacheTrial(None, 0), *(CacheTrial(window, kept) for window in windows(n_tokens) for kept in (0, sinks))]


def kl_of_rows(before: Float[Tensor, "vocab"], after: Float[Tensor, "vocab"]) -> float:
    """KL(before ‖ after) of two rows of logits, over the whole vocabulary, in bits, in float64."""
    old, new = (torch.log_softmax(logits.double().cpu(), dim=-1) for logits in (before, after))
    return float(kl(old, new))


def first_difference(first: Sequence[int], second: Sequence[int]) -> int | None:
    """Index of the first difference, or the length of the shorter text; None if they are equal."""
    for index, (one, other) in enumerate(zip(first, second)):
        if one != other:
            return index
    return None if len(first) == len(second) else min(len(first), len(second))
