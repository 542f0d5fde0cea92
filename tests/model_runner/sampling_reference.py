"""Every transform once more, as its paper says it: plain loops over Python's own floats, nothing of transformers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_runner.sampling import Sampling

REMOVED = -math.inf


def softmax(scores: Sequence[float]) -> list[float]:
    largest = max(scores)
    parts = [math.exp(score - largest) for score in scores]
    total = math.fsum(parts)
    return [part / total for part in parts]


def entropy_bits(probabilities: Sequence[float]) -> float:
    """Shannon (1948)."""
    return -math.fsum(p * math.log2(p) for p in probabilities if p > 0)


def applied(name: str, scores: list[float], sampling: Sampling, previous: Sequence[int]) -> list[float]:
    value = getattr(sampling, name)
    match name:
        case "repetition_penalty":
            return penalised(scores, value, previous)
        case "temperature":
            return greedy(scores) if value == 0 else [score / value for score in scores]
        case "top_k":
            return top_k(scores, value) if value else scores
        case "top_p":
            return top_p(scores, value)
        case "min_p":
            return min_p(scores, value)
        case _:
            return typical(scores, value)


def penalised(scores: list[float], penalty: float, previous: Sequence[int]) -> list[float]:
    """Keskar et al. 2019, arXiv:1909.05858, section 4.1; a negative score is multiplied, as transformers does."""
    seen = set(previous)
    return [
        (score * penalty if score < 0 else score / penalty) if idx in seen else score
        for idx, score in enumerate(scores)
    ]


def greedy(scores: list[float]) -> list[float]:
    first = scores.index(max(scores))
    return [score if idx == first else REMOVED for idx, score in enumerate(scores)]


def top_k(scores: list[float], k: int) -> list[float]:
    """Fan et al. 2018, arXiv:1805.04833; tokens as likely as the k-th stay, too."""
    least = sorted(scores, reverse=True)[min(k, len(scores)) - 1]
    return [score if score >= least else REMOVED for score in scores]


def top_p(scores: list[float], p: float) -> list[float]:
    """Holtzman et al. 2020, arXiv:1904.09751, eq. 2: the smallest set of most likely tokens whose mass reaches p."""
    if p == 1:
        return scores
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


def min_p(scores: list[float], least: float) -> list[float]:
    """Nguyen et al. 2024, arXiv:2407.01082: at least this share of the most likely token's probability."""
    probabilities = softmax(scores)
    bar = least * max(probabilities)
    return [score if p >= bar else REMOVED for score, p in zip(scores, probabilities)]


def typical(scores: list[float], mass: float) -> list[float]:
    """Meister et al. 2023, arXiv:2202.00666: the smallest set of the tokens least unlike the entropy with this mass."""
    if mass == 1:
        return scores
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
