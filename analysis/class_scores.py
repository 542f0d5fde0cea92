"""A classifier's classes by decreasing score, and their change under an edit."""

from __future__ import annotations

from dataclasses import dataclass

from attention.distributions import kl
from model_runner.capture import Capture
from model_runner.class_scores import Scale, log_shares, shares
from model_runner.errors import CapturesDiffer
from model_runner.runner import ModelInfo


@dataclass(frozen=True)
class ClassScores:
    """``ids``, ``names`` and ``values`` by decreasing score; values are probabilities, or the score itself for a
    regression.
    """

    ids: tuple[int, ...]
    names: tuple[str, ...]
    values: tuple[float, ...]
    scale: Scale


@dataclass(frozen=True)
class ClassChange:
    """The classes by decreasing score before; ``kl`` in bits, None if the scores are no distribution."""

    names: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    scale: Scale
    kl: float | None


def class_scores(capture: Capture, info: ModelInfo) -> ClassScores | None:
    """A classifier's scores for the text, in float64; None for any other model."""
    if capture.class_logits is None:
        return None
    order = capture.class_logits.argsort(descending=True, stable=True)
    values = shares(capture.class_logits, info.class_scale)[order]
    ids = order.tolist()
    return ClassScores(tuple(ids), tuple(info.classes[i] for i in ids), tuple(values.tolist()), info.class_scale)


def class_change(before: Capture, after: Capture, info: ModelInfo) -> ClassChange | None:
    """The scores of two captures of one text; None for any other model. Raises CapturesDiffer for different tokens."""
    found = class_scores(before, info)
    if found is None or after.class_logits is None:
        return None
    if [token.id for token in before.tokens] != [token.id for token in after.tokens]:
        raise CapturesDiffer()
    order = list(found.ids)
    now = shares(after.class_logits, info.class_scale)[order]
    bits = None
    if info.class_scale == "softmax":
        old, new = (log_shares(one.class_logits, "softmax") for one in (before, after) if one.class_logits is not None)
        bits = float(kl(old, new))
    return ClassChange(found.names, found.values, tuple(now.tolist()), info.class_scale, bits)
