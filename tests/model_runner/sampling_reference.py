"""Every transform once more, as its paper says it: plain loops over Python's own floats, nothing of transformers.

A row of `REFERENCES` is what the tests know of a transform: all of them walk the table of model_runner/transforms.py,
and find here what to compare it with and which settings to try.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from transformers.generation import logits_process as theirs

from model_runner.transforms import TRANSFORMS, Number, Sampling

REMOVED = -math.inf
Scores = list[float]


@dataclass(frozen=True)
class Reference:
    """What transformers has for it, what its paper says, and settings to try."""

    theirs: Callable[[Number], theirs.LogitsProcessor]
    says: Callable[[Scores, float, Sequence[int]], Scores]  # of scores, setting and the tokens before
    mild: Callable[[Random], Number]  # in all of them together more than a few tokens stay
    strong: Callable[[Random], Number]  # changes any 300 tokens
    extreme: tuple[Number, ...]
    right: tuple[Number, ...]  # ends of what is possible
    wrong: tuple[Number, ...]


def softmax(scores: Sequence[float]) -> Scores:
    largest = max(scores)
    parts = [math.exp(score - largest) for score in scores]
    total = math.fsum(parts)
    return [part / total for part in parts]


def entropy_bits(probabilities: Sequence[float]) -> float:
    """Shannon (1948)."""
    return -math.fsum(p * math.log2(p) for p in probabilities if p > 0)


def applied(name: str, scores: Scores, sampling: Sampling, previous: Sequence[int]) -> Scores:
    """The scores after one transform, as the reference has it."""
    value = getattr(sampling, name)
    return scores if value == TRANSFORMS[name].off else REFERENCES[name].says(scores, value, previous)


def their_list(sampling: Sampling) -> theirs.LogitsProcessorList:
    """What a reader of transformers' documentation would build for these settings, in their order."""
    chosen = [(name, getattr(sampling, name)) for name in sampling.order]
    made = (REFERENCES[name].theirs(value) for name, value in chosen if value != TRANSFORMS[name].off)
    return theirs.LogitsProcessorList(made)


def mild_settings(draws: Random) -> dict[str, Number]:
    """Settings that all do something."""
    return {name: REFERENCES[name].mild(draws) for name in TRANSFORMS}


def extreme_settings(draws: Random) -> Sampling:
    """Settings at the ends of what is possible, in any order."""
    order = list(TRANSFORMS)
    draws.shuffle(order)
    return Sampling(**{name: draws.choice(REFERENCES[name].extreme) for name in TRANSFORMS}, order=tuple(order))


# -- the papers -------------------------------------------------------------------------------------------------------


def penalised(scores: Scores, penalty: float, previous: Sequence[int]) -> Scores:
    """Keskar et al. 2019, arXiv:1909.05858, section 4.1; a negative score is multiplied, as transformers does."""
    seen = set(previous)
    return [
        (score * penalty if score < 0 else score / penalty) if idx in seen else score
        for idx, score in enumerate(scores)
    ]


def greedy(scores: Scores) -> Scores:
    first = scores.index(max(scores))
    return [score if idx == first else REMOVED for idx, score in enumerate(scores)]


def top_k(scores: Scores, k: int) -> Scores:
    """Fan et al. 2018, arXiv:1805.04833; tokens as likely as the k-th stay, too."""
    least = sorted(scores, reverse=True)[min(k, len(scores)) - 1]
    return [score if score >= least else REMOVED for score in scores]


def top_p(scores: Scores, p: float) -> Scores:
    """Holtzman et al. 2020, arXiv:1904.09751, eq. 2: the smallest set of most likely tokens whose mass reaches p."""
    probabilities = softmax(scores)
    order = sorted(range(len(scores)), key=lambda idx: (scores[idx], idx), reverse=True)  # equals: the higher id first
    kept: set[int] = set()
    mass = 0.0
    for idx in order:
        if mass >= p:
            break
        kept.add(idx)
        mass = math.fsum((mass, probabilities[idx]))
    return [score if idx in kept else REMOVED for idx, score in enumerate(scores)]


def min_p(scores: Scores, least: float) -> Scores:
    """Nguyen et al. 2024, arXiv:2407.01082: at least this share of the most likely token's probability."""
    probabilities = softmax(scores)
    bar = least * max(probabilities)
    return [score if p >= bar else REMOVED for score, p in zip(scores, probabilities)]


def typical(scores: Scores, mass: float) -> Scores:
    """Meister et al. 2023, arXiv:2202.00666: the smallest set of the tokens least unlike the entropy with this mass."""
    probabilities = softmax(scores)
    entropy = -math.fsum(p * math.log(p) for p in probabilities if p > 0)
    apart = [abs(-math.log(p) - entropy) if p > 0 else math.inf for p in probabilities]
    reached, last = 0.0, 0.0
    for idx in sorted(range(len(scores)), key=lambda idx: apart[idx]):
        last = apart[idx]
        reached += probabilities[idx]
        if reached >= mass:
            break
    return [score if gap <= last else REMOVED for score, gap in zip(scores, apart)]


# -- the table --------------------------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf

REFERENCES = {
    "repetition_penalty": Reference(
        theirs=lambda value: theirs.RepetitionPenaltyLogitsProcessor(penalty=float(value)),
        says=penalised,
        mild=lambda draws: draws.uniform(0.7, 1.6),
        strong=lambda draws: draws.uniform(0.5, 2),
        extreme=(1e-3, 0.7, 1, 1.5, 1e3),
        right=(0.001, 1, 1000),
        wrong=(0, -1, 1e-4, 1001, NAN, INF),
    ),
    "temperature": Reference(
        theirs=lambda value: theirs.TemperatureLogitsWarper(temperature=float(value)),
        says=lambda scores, value, _: greedy(scores) if value == 0 else [score / value for score in scores],
        mild=lambda draws: draws.uniform(0.3, 2),
        strong=lambda draws: draws.uniform(0.2, 3),
        extreme=(0, 1e-4, 0.3, 1, 1.7, 1e6),
        right=(0, 1, 1e-4, 1e30),
        wrong=(-1, -1e-9, 1e-5, 9.9e-5, NAN, INF, -INF, 10**309),
    ),
    "top_k": Reference(
        theirs=lambda value: theirs.TopKLogitsWarper(top_k=int(value)),
        says=lambda scores, value, _: top_k(scores, int(value)),
        mild=lambda draws: draws.randrange(50, 20_000),
        strong=lambda draws: draws.randrange(1, 300),
        extreme=(0, 1, 7, 300),
        right=(0, 1, 40.0, 10**9),
        wrong=(-1, 1.5, NAN, INF),
    ),
    "top_p": Reference(
        theirs=lambda value: theirs.TopPLogitsWarper(top_p=float(value)),
        says=lambda scores, value, _: top_p(scores, value),
        mild=lambda draws: draws.uniform(0.5, 0.999),
        strong=lambda draws: draws.uniform(0.05, 0.99),
        extreme=(1e-9, 0.3, 0.9, 1),
        right=(1, 1e-9),
        wrong=(0, -0.1, 1.0001, NAN, INF),
    ),
    "min_p": Reference(
        theirs=lambda value: theirs.MinPLogitsWarper(min_p=float(value)),
        says=lambda scores, value, _: min_p(scores, value),
        mild=lambda draws: 10 ** draws.uniform(-6, -1),
        strong=lambda draws: draws.uniform(0.001, 0.5),
        extreme=(0, 0.05, 0.999999),
        right=(0, 0.999),
        wrong=(-0.1, 1, 2, NAN),
    ),
    "typical_p": Reference(
        theirs=lambda value: theirs.TypicalLogitsWarper(mass=float(value)),
        says=lambda scores, value, _: typical(scores, value),
        mild=lambda draws: draws.uniform(0.3, 0.99),
        strong=lambda draws: draws.uniform(0.05, 0.99),
        extreme=(1e-9, 0.4, 1),
        right=(1, 1e-9),
        wrong=(0, -0.1, 1.0001, NAN),
    ),
}
