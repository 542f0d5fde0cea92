"""Three measures of "which heads matter for this token?", side by side: ablation, attribution, and output norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from model_runner.errors import RunnerError
from model_runner.questions import HeadAnswers


@dataclass(frozen=True, eq=False)
class LayerEffects:
    """The heads of one layer; NaN for a measure that this model does not have, with the reason in ``problems``."""

    layer: int
    lost: Float[np.ndarray, "heads"]
    pushed: Float[np.ndarray, "heads"]
    written: Float[np.ndarray, "heads"]
    problems: tuple[RunnerError, ...] = ()
    ffn: float = math.nan


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """Every head; NaN if there is none, not computed yet, or undefined.

    ``lost``: decrease in nats of the target's log-probability when the head is ablated. ``pushed``: what it adds to the
    target's logit on the direct path, relative to the mean logit. If positive, both mean that the head favours the
    target. ``written``: the norm of its output at the last position. ``ffn``: like ``lost``, for ablating a layer's
    feed-forward network.
    """

    lost: Float[np.ndarray, "layers heads"]
    pushed: Float[np.ndarray, "layers heads"]
    written: Float[np.ndarray, "layers heads"]
    ffn: Float[np.ndarray, "layers"]


def layer_effects(answers: HeadAnswers) -> LayerEffects:
    """The answer to :class:`model_runner.questions.WhichHeads` as arrays."""

    def numbers(answer: Tensor | None) -> Float[np.ndarray, "heads"]:
        return np.full(answers.n_heads, np.nan) if answer is None else answer.double().cpu().numpy()

    return LayerEffects(
        answers.layer,
        lost=-numbers(answers.ablated),
        pushed=numbers(answers.attributed),
        written=numbers(answers.written),
        problems=answers.problems,
        ffn=math.nan if answers.ffn is None else -answers.ffn,
    )


def head_effects(layers: Sequence[LayerEffects], n_layers: int, n_heads: int) -> HeadEffects:
    """The maps of the layers that are done."""
    lost, pushed, written = (np.full((n_layers, n_heads), np.nan) for _ in range(3))
    ffn = np.full(n_layers, np.nan)
    for done in layers:
        ffn[done.layer] = done.ffn
        heads = slice(0, len(done.lost))
        lost[done.layer, heads], pushed[done.layer, heads] = done.lost, done.pushed
        written[done.layer, heads] = done.written
    return HeadEffects(lost, pushed, written, ffn)


def ranking(values: Float[np.ndarray, "layers heads"], count: int) -> tuple[tuple[int, int], ...]:
    """(layer, head) by decreasing magnitude; ties in order of layer and head."""
    flat = np.abs(values).ravel()
    order = [int(i) for i in np.argsort(-flat, kind="stable") if not np.isnan(flat[i])]
    return tuple(divmod(i, values.shape[1]) for i in order[:count])


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's ρ over the cells that both have, ties sharing their mean rank; NaN if one is constant.

    −1 to 1 (Spearman 1904, American Journal of Psychology 15).
    """
    both = ~(np.isnan(first) | np.isnan(second))
    ranks = [_ranks(values[both]) for values in (first, second)]
    if any(np.ptp(one) == 0 if len(one) else True for one in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """1 for the smallest; ties share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
