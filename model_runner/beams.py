"""What a beam search found: every step's beams, what was dropped, what finished, the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_runner.request import GenerateRequest


@dataclass(frozen=True)
class Beam:
    """A continuation of the prompt: token ids, the natural logarithm of each one's probability, and their sum.

    The sum is float32 and in transformers' order, so that it is the very number the search compared.
    """

    ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    log_prob: float = 0.0


@dataclass(frozen=True)
class Finished:
    """A beam that stopped: at the end of the text, its last token being the end-of-text token, or at the limit.

    ``score`` is what finished beams are ranked by, the log-probability per token (transformers' length penalty of 1).
    """

    beam: Beam
    score: float
    stop: Literal["end", "limit"]


@dataclass(frozen=True)
class BeamStep:
    """What one token more did: the ``beams`` that go on, best first, and those that ``finished`` here.

    ``dropped`` are beams of the step before of which no continuation is among either. Of the finished ones only the
    best ``width`` of the whole search are kept, see ``BeamSearch.ranking``.
    """

    beams: tuple[Beam, ...]
    finished: tuple[Finished, ...]
    dropped: tuple[Beam, ...]


@dataclass(frozen=True)
class BeamSearch:
    """``ranking`` is the result, best first: ``width`` finished beams. ``prompt`` holds the ids before all of them."""

    request: GenerateRequest
    width: int
    prompt: tuple[int, ...]
    steps: tuple[BeamStep, ...]
    ranking: tuple[Finished, ...]
