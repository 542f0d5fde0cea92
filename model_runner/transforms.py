"""The transforms between a model's logits and the draw of a token: one table, and the settings that are its values.

A row of the table is a field of `Sampling`. Validation, stages, URLs, the payload and the controls of the Next token
page, captions, formulas and sources are all made from it. Only the arithmetic exists a second time, in
viz/components/sampling_bench/stages.js, for every frame of a drag.
"""

# ruff: noqa: RUF009  # a row of the table is the default of its field

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import torch
from jaxtyping import Float64, Int64
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

from model_runner.errors import N_, BadSetting, Reason

Number = float | int  # the tests' type checker does not accept 1 as a float

ORDER_RULE = N_("The order of the transforms is {value}; it must name each of them once.")


@dataclass(frozen=True)
class Bounds:
    """The valid range of a setting: from ``least`` to ``most``, if there is one, without an end that is ``open``."""

    least: Number
    most: Number | None = None
    open: Literal["", "least", "most"] = ""
    or_zero: bool = False  # 0 is also valid, though it is below the least
    whole: bool = False

    def hold(self, value: Number) -> bool:
        """Whether the value is valid; NaN never is."""
        if self.or_zero and value == 0:
            return True
        if self.whole and not (isinstance(value, int) or value.is_integer()):
            return False
        most = value if self.most is None else self.most
        end = {"": None, "least": self.least, "most": self.most}[self.open]
        return self.least <= value <= most and value != end  # NaN fails every comparison


@dataclass(frozen=True, kw_only=True)
class Transform:
    """A transform of the logits; its name is that of its field in `Sampling`.

    ``warper`` makes transformers' transform for a setting; it is never called with ``off``. ``rule`` is the message
    about invalid settings, with {value} for the value. ``steps`` are a slider's values for a vocabulary of this size,
    ``first`` is its position when the transform is first switched on. ``removes``: it removes tokens instead of
    changing how likely they are. ``at_zero`` describes what 0 does, if that is special; ``beyond`` says that a setting
    larger than the vocabulary does nothing, with {count} for its size and {value}.
    """

    off: Number
    bounds: Bounds
    warper: Callable[[Number], LogitsProcessor]
    label: str
    about: str
    rule: str
    formula: str
    source: str = ""
    steps: Callable[[int], Sequence[Number]]
    first: Number
    removes: bool
    at_zero: str = ""
    beyond: str = ""

    def described(self, n_vocab: int, translated: Callable[[str], str] = str) -> dict[str, Any]:
        """Everything except what only Python uses, ready for JSON, with texts translated by ``translated``."""
        words = {name: getattr(self, name) for name in ("label", "about", "rule", "at_zero", "beyond")}
        return {
            "off": self.off,
            "bounds": asdict(self.bounds),
            "steps": list(self.steps(n_vocab)),
            "first": self.first,
            "removes": self.removes,
            **{name: text and translated(text) for name, text in words.items()},
        }


# -- what the rows are made of ----------------------------------------------------------------------------------------


class _Temperature(TemperatureLogitsWarper):
    """transformers' own; at 0 only the most likely token remains, the first of several, as with torch.argmax."""

    def __init__(self, temperature: Number) -> None:
        if temperature != 0:
            super().__init__(float(temperature))
        self.is_greedy = temperature == 0

    def __call__(self, input_ids: Int64[Tensor, "1 previous"], scores: Float64[Tensor, "1 vocab"]) -> Any:
        if not self.is_greedy:
            return super().__call__(input_ids, scores)  # type: ignore[arg-type]  # torch's are never LongTensor
        best = scores.argmax(dim=-1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter(-1, best, scores.gather(-1, best))


class _TopP(TopPLogitsWarper):
    """As many tokens as transformers keeps; of those as likely as the last one, the ones with the highest ids.

    That is what transformers gets with a stable sort. torch (2.13) sorts unstably on processors with AVX2 or AVX-512,
    where the choice among equals depends on the machine.
    """

    def __call__(self, input_ids: Int64[Tensor, "1 previous"], scores: Float64[Tensor, "1 vocab"]) -> Any:
        warped = super().__call__(input_ids, scores)  # type: ignore[arg-type]  # torch's are never LongTensor
        removed = scores.shape[-1] - int((warped > -torch.inf).sum())
        lowest = torch.sort(scores[0], stable=True).indices[:removed]
        return scores.clone().index_fill_(1, lowest, -torch.inf)


def _hundredths(first: int, last: int) -> Callable[[int], Sequence[Number]]:
    return lambda _n_vocab: [i / 100 for i in range(first, last + 1)]


def _squares(_n_vocab: int) -> Sequence[Number]:
    """From 0 to 0.98, denser near 0."""
    return [i * i / 1e4 for i in range(100)]


def _counts(n_vocab: int) -> Sequence[Number]:
    """About 150 integers from 1 to the vocabulary size, each a little larger than the one before; then 0."""
    return [*dict.fromkeys(round(n_vocab ** (i / 159)) for i in range(160)), 0]


def _row(transform: Transform) -> Any:
    return field(default=transform.off, metadata={"transform": transform})


# -- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Sampling:
    """How a token is chosen; by default, from the model's own distribution. Raises BadSetting.

    The rows are in generate()'s own order, which is the default of ``order``.
    """

    repetition_penalty: Number = _row(
        Transform(
            off=1.0,
            bounds=Bounds(1e-3, 1e3),  # beyond these a score could overflow
            warper=lambda value: RepetitionPenaltyLogitsProcessor(float(value)),
            label=N_("repetition penalty"),
            about=N_("makes the tokens of the text less likely; below 1, more"),
            rule=N_("The repetition penalty is {value}; it must be from 0.001 to 1000, and 1 is off."),
            formula=N_("logit → logit / θ where above 0, logit · θ where below, for tokens of the text"),
            source="Keskar et al. 2019, arXiv:1909.05858",
            steps=_hundredths(100, 200),
            first=1.2,
            removes=False,
        )
    )
    temperature: Number = _row(
        Transform(
            off=1.0,
            bounds=Bounds(1e-4, sys.float_info.max, or_zero=True),  # a smaller one is greedy except when it overflows
            warper=_Temperature,
            label=N_("temperature"),
            about=N_("below 1 sharper, above 1 flatter, 0 always the likeliest"),
            rule=N_("The temperature is {value}; it must be 0 (always the most likely token) or from 0.0001 up."),
            formula="logit → logit / T",
            steps=_hundredths(0, 200),
            first=0.7,
            removes=False,
            at_zero=N_("greedy: always the most likely token"),
        )
    )
    top_k: Number = _row(
        Transform(
            off=0,
            bounds=Bounds(0, 10**9, whole=True),
            warper=lambda value: TopKLogitsWarper(int(value)),
            label=N_("top-k"),
            about=N_("keeps the k most likely tokens"),
            rule=N_("Top-k is {value}; it must be a whole number from 0 (off) to 1,000,000,000."),
            formula=N_("keep the k largest p"),
            source="Fan et al. 2018, arXiv:1805.04833",
            steps=_counts,
            first=50,
            removes=True,
            beyond=N_("The vocabulary has {count} tokens: with top-k {value} all of them stay."),
        )
    )
    top_p: Number = _row(
        Transform(
            off=1.0,
            bounds=Bounds(0, 1, open="least"),
            warper=lambda value: _TopP(float(value)),
            label=N_("top-p"),
            about=N_("keeps the fewest tokens whose probabilities reach p"),
            rule=N_("Top-p is {value}; it must be above 0 and at most 1 (off)."),
            formula=N_("keep the fewest tokens with Σ p ≥ p₀, the one that crosses included"),
            source="Holtzman et al. 2020, arXiv:1904.09751",
            steps=_hundredths(1, 100),
            first=0.9,
            removes=True,
        )
    )
    min_p: Number = _row(
        Transform(
            off=0.0,
            bounds=Bounds(0, 1, open="most"),
            warper=lambda value: MinPLogitsWarper(float(value)),
            label=N_("min-p"),
            about=N_("keeps tokens with at least this share of the top probability"),
            rule=N_("Min-p is {value}; it must be at least 0 (off) and below 1."),
            formula=N_("keep p ≥ share · max p"),
            source="Nguyen et al. 2024, arXiv:2407.01082",
            steps=_squares,
            first=0.05,
            removes=True,
        )
    )
    typical_p: Number = _row(
        Transform(
            off=1.0,
            bounds=Bounds(0, 1, open="least"),
            warper=lambda value: TypicalLogitsWarper(float(value)),
            label=N_("typical"),
            about=N_("keeps the tokens nearest to the average surprise, up to p"),
            rule=N_("Typical p is {value}; it must be above 0 and at most 1 (off)."),
            formula=N_("keep the smallest |−log p − H| until Σ p ≥ p₀"),
            source="Meister et al. 2023, arXiv:2202.00666",
            steps=_hundredths(1, 100),
            first=0.9,
            removes=True,
        )
    )
    order: tuple[str, ...] = field(default_factory=lambda: tuple(TRANSFORMS))
    seed: int = 0

    def __post_init__(self) -> None:
        for name, transform in TRANSFORMS.items():
            value = getattr(self, name)
            if not transform.bounds.hold(value):
                raise BadSetting(setting=name, reason=Reason(transform.rule, {"value": value}))
        if sorted(self.order) != sorted(TRANSFORMS):
            raise BadSetting(setting="order", reason=Reason(ORDER_RULE, {"value": ", ".join(self.order)}))

    def __repr__(self) -> str:
        """Python code without default values: everything that differs is named in every caption and snippet."""
        off = {one.name: getattr(DEFAULT, one.name) for one in fields(self)}
        given = [f"{name}={getattr(self, name)!r}" for name in off if getattr(self, name) != off[name]]
        return f"Sampling({', '.join(given)})"


TRANSFORMS: dict[str, Transform] = {
    one.name: one.metadata["transform"] for one in fields(Sampling) if "transform" in one.metadata
}
DEFAULT = Sampling()


def with_newer(order: tuple[str, ...]) -> tuple[str, ...]:
    """An order that predates some transforms, with each of these inserted behind the one it usually follows."""
    found = list(order)
    if len(set(found)) == len(found):
        for before, name in zip((None, *DEFAULT.order), DEFAULT.order):
            if name not in found:
                found.insert(found.index(before) + 1 if before in found else 0, name)
    return tuple(found)
