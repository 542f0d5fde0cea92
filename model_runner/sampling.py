"""How the next token is chosen from a model's logits: transformers' own transforms, one after the other, then a draw.

Knows nothing about models or texts. The transforms are given the float32 logits as float64: then the cut of a large
vocabulary does not depend on how a machine adds up float32 numbers, and whoever computes it elsewhere (the browser
does) finds the same tokens.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessor,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from model_runner.errors import N_, BadSetting, BrokenLogits, Reason

Number = float | int  # the tests' type checker takes no 1 for a float

MODEL = "model"  # the name of the stage before every transform
TRANSFORMS = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p")  # generate()'s own order
LEAST_TEMPERATURE = 1e-4  # a smaller one is greedy but for its overflows
PENALTIES = (1e-3, 1e3)  # beyond these a score could overflow

RULES = {  # what each setting has to be, for whoever reads one from a text, too; {value} is what it is
    "temperature": N_("The temperature is {value}; it must be 0 (always the most likely token) or from 0.0001 up."),
    "top_k": N_("Top-k is {value}; it must be a whole number, 0 (off) or more."),
    "top_p": N_("Top-p is {value}; it must be above 0 and at most 1 (off)."),
    "min_p": N_("Min-p is {value}; it must be at least 0 (off) and below 1."),
    "typical_p": N_("Typical p is {value}; it must be above 0 and at most 1 (off)."),
    "repetition_penalty": N_("The repetition penalty is {value}; it must be from 0.001 to 1000, and 1 is off."),
    "seed": N_("The seed is {value}; it must be a whole number."),
    "order": N_("The order of the transforms is {value}; it must name each of them once."),
}


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen; as it comes, from the model's own distribution.

    Temperature 0 is greedy. Top-k 0, top-p 1, min-p 0, typical p 1 and a penalty of 1 are off. Raises BadSetting.
    """

    temperature: Number = 1.0
    top_k: Number = 0
    top_p: Number = 1.0
    min_p: Number = 0.0
    typical_p: Number = 1.0
    repetition_penalty: Number = 1.0
    order: tuple[str, ...] = TRANSFORMS
    seed: int = 0

    def __post_init__(self) -> None:
        lowest, highest = PENALTIES
        temperature = self.temperature
        good = {  # NaN fails every comparison
            "temperature": temperature == 0 or LEAST_TEMPERATURE <= temperature <= sys.float_info.max,
            "top_k": self.top_k >= 0 and _is_whole(self.top_k),
            "top_p": 0 < self.top_p <= 1,
            "min_p": 0 <= self.min_p < 1,
            "typical_p": 0 < self.typical_p <= 1,
            "repetition_penalty": lowest <= self.repetition_penalty <= highest,
            "order": sorted(self.order) == sorted(TRANSFORMS),
        }
        for name, is_good in good.items():
            if not is_good:
                value = ", ".join(self.order) if name == "order" else getattr(self, name)
                raise BadSetting(setting=name, reason=Reason(RULES[name], {"value": value}))


@dataclass(frozen=True, eq=False)
class Stage:
    """The distribution after one transform; its name is one of TRANSFORMS, or MODEL before all of them.

    ``exact`` are the scores, −inf where a token was removed here or before. ``kept_mass`` is what the tokens that stay
    had of the stage before, 1 where it removed none.
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
        """True where a token can still be drawn."""
        return self.exact > -torch.inf

    @property
    def kept(self) -> int:
        """How many tokens can still be drawn: one at least."""
        return int(self.keep.sum())

    @cached_property
    def entropy(self) -> float:
        """How undecided the distribution is, in bits."""
        p = self.probabilities[self.probabilities > 0]
        return float(-(p * p.log2()).sum()) + 0.0  # + 0.0: that of one token comes as -0.0


def stages(logits: Float[Tensor, "vocab"], sampling: Sampling, previous: Sequence[int]) -> tuple[Stage, ...]:
    """The model's distribution, then what each transform makes of the one before, in the order the settings give.

    A transform that is off changes nothing. ``previous`` are the token ids that the repetition penalty makes less
    likely; ids beyond the logits are ignored. A logit of −inf is a token the model itself removed. Raises BrokenLogits
    for NaN, for +inf, and where all are −inf.
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
    """``count`` random numbers in [0, 1) for the token at this position: the same on every machine, at every start.

    They have 24 bits, so that float32 holds them exactly. The first ones do not depend on ``count``.
    """
    source = random.Random(f"{seed}:{position}")  # a text as seed is hashed with SHA-512; an int would lose its sign
    return [source.getrandbits(24) / 2**24 for _ in range(count)]


def draw(probabilities: Float[Tensor, "vocab"], uniform: float) -> int:
    """The token that a uniform number in [0, 1) falls on, the tokens laid side by side in the order of their ids.

    A token of probability 0 is never drawn.
    """
    reached = probabilities.double().cumsum(dim=-1)
    return int(torch.searchsorted(reached, uniform * reached[-1], right=True))


def _transformed(
    name: str, sampling: Sampling, scores: Float64[Tensor, "vocab"], ids: Int64[Tensor, "1 previous"]
) -> Float64[Tensor, "vocab"]:
    """The scores after one transform, the same tensor where it is off."""
    if name == "temperature" and sampling.temperature == 0:
        return _greedy(scores)
    warper = _warper(name, sampling)
    if warper is None:
        return scores
    warped: Tensor = warper(ids, scores[None])[0]  # type: ignore[arg-type]  # torch's tensors are never LongTensor
    return _ties_settled(scores, warped) if name == "top_p" else warped


def _warper(name: str, sampling: Sampling) -> LogitsProcessor | None:
    """transformers' transform of this name, None where the settings turn it off."""
    value = getattr(sampling, name)
    match name:
        case "repetition_penalty":
            return None if value == 1 else RepetitionPenaltyLogitsProcessor(float(value))
        case "temperature":
            return None if value == 1 else TemperatureLogitsWarper(float(value))
        case "top_k":
            return None if value == 0 else TopKLogitsWarper(int(value))
        case "top_p":
            return None if value == 1 else TopPLogitsWarper(float(value))
        case "min_p":
            return None if value == 0 else MinPLogitsWarper(float(value))
        case _:
            return None if value == 1 else TypicalLogitsWarper(float(value))


def _greedy(scores: Float64[Tensor, "vocab"]) -> Float64[Tensor, "vocab"]:
    """Nothing but the most likely token; of several the first one, as torch.argmax has it."""
    only = torch.full_like(scores, -torch.inf)
    best = scores.argmax()
    only[best] = scores[best]
    return only


def _ties_settled(scores: Float64[Tensor, "vocab"], warped: Float64[Tensor, "vocab"]) -> Float64[Tensor, "vocab"]:
    """As many tokens as top-p kept; of those as likely as its last one, the ones with the highest ids.

    That is what transformers' own sort does where it is stable. torch (2.13) sorts unstably on processors with AVX2 or
    AVX-512, and then which of the equals stay depends on the machine.
    """
    n_kept = int((warped > -torch.inf).sum())
    order = torch.sort(scores, stable=True).indices
    return warped.clone().index_copy_(
        0, order, scores[order].index_fill(0, torch.arange(len(order) - n_kept), -torch.inf)
    )


def _is_whole(value: float | int) -> bool:
    return isinstance(value, int) or value.is_integer()
