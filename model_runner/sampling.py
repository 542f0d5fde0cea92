"""Chooses the next token from a model's logits: transformers' own transforms one after another, then a draw.

This module knows nothing about models or texts. The transforms are given the float32 logits as float64: then the cutoff
in a large vocabulary does not depend on how a machine sums float32 numbers, and another implementation (the browser's)
finds the same tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor

from model_runner.errors import BrokenLogits
from model_runner.transforms import TRANSFORMS, Sampling

MODEL = "model"  # the stage before every transform


@dataclass(frozen=True, eq=False)
class Stage:
    """The distribution after one transform; its name is one of TRANSFORMS, or MODEL before all of them.

    ``exact`` are the scores, −inf for tokens removed here or before. ``kept_mass`` is the probability that the
    remaining tokens had in the stage before, 1 if none was removed.
    """

    name: str
    exact: Float64[Tensor, "vocab"]
    kept_mass: float = 1.0

    @property
    def scores(self) -> Float32[Tensor, "vocab"]:
        """The scores in the precision of the model's logits, −inf where removed."""
        return self.exact.float()

    @cached_property
    def probabilities(self) -> Float64[Tensor, "vocab"]:
        """The distribution over the whole vocabulary, summing to 1; 0 where removed."""
        return self.exact.softmax(dim=-1)

    @cached_property
    def keep(self) -> Bool[Tensor, "vocab"]:
        """True for tokens that can still be drawn."""
        return self.exact > -torch.inf

    @property
    def kept(self) -> int:
        """How many tokens can still be drawn, at least one."""
        return int(self.keep.sum())

    @cached_property
    def entropy(self) -> float:
        """The entropy of the distribution, in bits."""
        p = self.probabilities[self.probabilities > 0]
        return float(-(p * p.log2()).sum()) + 0.0  # + 0.0: the entropy of a single token would be -0.0


def stages(logits: Float[Tensor, "vocab"], sampling: Sampling, previous: Sequence[int]) -> tuple[Stage, ...]:
    """The model's distribution, then the result of each transform, in the order of the settings.

    A transform that is off changes nothing. ``previous`` are the token ids that the repetition penalty makes less
    likely; ids outside the logits are ignored. A logit of −inf marks a token that the model itself excludes. Raises
    BrokenLogits for NaN, for +inf, and if all are −inf.
    """
    exact = logits.detach().to("cpu", torch.float32).double()
    if bool((exact.isnan() | (exact == torch.inf)).any()) or not bool((exact > -torch.inf).any()):
        raise BrokenLogits
    ids = torch.tensor([list(previous)], dtype=torch.int64)
    done = [Stage(MODEL, exact)]
    for name in sampling.order:
        before = done[-1]
        scores = _transformed(name, sampling, before.exact, ids)
        stayed = scores > -torch.inf
        lost = not torch.equal(stayed, before.keep)
        done.append(Stage(name, scores, float(before.probabilities[stayed].sum()) if lost else 1.0))
    return tuple(done)


def uniforms(seed: int, position: int, count: int) -> list[float]:
    """``count`` random numbers in [0, 1) for the token at this position, the same on every machine and in every run.

    They have 24 bits, so that float32 holds them exactly. The first ones do not depend on ``count``. The seed is any
    integer.
    """
    rest = 2 * seed if seed >= 0 else -2 * seed - 1  # maps every integer to a different natural number
    key = (0, 0)
    while True:
        key = threefry(key, (rest & _WORD, rest >> 32 & _WORD))
        rest >>= 64
        if not rest:
            break
    words, _ = threefry(key, (position, np.arange(count, dtype=np.uint64)))
    return ((words >> 8) / 2**24).tolist()


def draw(probabilities: Float[Tensor, "vocab"], uniform: float) -> int:
    """The token at this point of the cumulative distribution, in the order of the ids; ``uniform`` is in [0, 1).

    A token of probability 0 is never drawn.
    """
    reached = probabilities.double().cumsum(dim=-1)
    return int(torch.searchsorted(reached, uniform * reached[-1], right=True))


def threefry(key: tuple[int, int], counter: tuple[Any, Any]) -> tuple[Any, Any]:
    """Two random 32-bit words for this key and counter: Threefry-2x32 with 20 rounds (Salmon et al. 2011).

    It uses only addition, rotation and xor, so that JavaScript gets the same result. The counter's words may be arrays
    of uint64.
    """
    keys = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = counter[0] + keys[0] & _WORD, counter[1] + keys[1] & _WORD
    for number in range(20):
        turn = _TURNS[number % 8]
        x = x + y & _WORD
        y = (y << turn | y >> 32 - turn) & _WORD ^ x
        if number % 4 == 3:
            block = number // 4 + 1
            x, y = x + keys[block % 3] & _WORD, y + keys[(block + 1) % 3] + block & _WORD
    return x, y


_WORD = 2**32 - 1
_TURNS = (13, 15, 26, 6, 17, 29, 16, 24)  # rotations in bits, by round


def _transformed(
    name: str, sampling: Sampling, scores: Float64[Tensor, "vocab"], ids: Int64[Tensor, "1 previous"]
) -> Float64[Tensor, "vocab"]:
    """The scores after one transform; the same tensor if it is off."""
    transform, value = TRANSFORMS[name], getattr(sampling, name)
    if value == transform.off:
        return scores
    return transform.warper(value)(ids, scores[None])[0]  # type: ignore[arg-type]  # torch's are never LongTensor
