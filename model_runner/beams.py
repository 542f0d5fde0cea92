"""The result of a beam search: every step's beams, those dropped and finished, and the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_runner.request import GenerateRequest


@dataclass(frozen=True)
class Beam:
    """A continuation of the prompt: token ids, the natural logarithms of their probabilities, and their sum.

    The sum is float32 and in transformers' order, so that it is exactly the number that the search compared.
    """

    ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    log_prob: float = 0.0


@dataclass(frozen=True)
class Finished:
    """A finished beam: it ended with the end-of-text token, or at the length limit.

    ``score`` is the ranking criterion, the log-probability per token (transformers' length penalty of 1).
    """

    beam: Beam
    score: float
    stop: Literal["end", "limit"]


@dataclass(frozen=True)
class BeamStep:
    """One step: the ``beams`` that continue, best first, and those that ``finished``.

    ``dropped`` are beams of the previous step without a continuation in either. Only the best ``width`` finished beams
    of the whole search are kept, see ``BeamSearch.ranking``.
    """

    beams: tuple[Beam, ...]
    finished: tuple[Finished, ...]
    dropped: tuple[Beam, ...]


@dataclass(frozen=True)
class BeamSearch:
    """``ranking`` is the result, best first: ``width`` finished beams. ``prompt`` has the ids before all of them."""

    request: GenerateRequest
    width: int
    prompt: tuple[int, ...]
    steps: tuple[BeamStep, ...]
    ranking: tuple[Finished, ...]
