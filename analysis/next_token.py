"""The most likely next tokens, exact over the whole vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.units import Unit
from model_runner.capture import Capture


@dataclass(frozen=True)
class LikeliestTokens:
    """Token ids by decreasing probability, and the total probability of the others."""

    ids: tuple[int, ...]
    probabilities: tuple[float, ...]
    rest: float


def next_tokens(capture: Capture, position: int = -1, *, count: int = 5) -> LikeliestTokens:
    """Softmax of the model's logits in float64. Raises NoLogits for a model without an output layer."""
    likely = capture.likely(position, top=count)
    shown = (likely.logits.double() - likely.lse).exp().tolist()
    return LikeliestTokens(tuple(likely.ids.tolist()), tuple(shown), max(0.0, 1.0 - sum(shown)))


def end_of_text(units: Sequence[Unit], position: int, *, first: int = 0, count: int = 3) -> tuple[str, bool]:
    """The last units of the text before a position as a string, and whether they are all of it.

    ``first``: the start of the text that continues there, after a source. Special tokens are left out, except the last
    unit: what follows the end of a text differs from what follows its words.
    """
    before = [unit for unit in units if first <= unit.start < position]
    labels = [unit.label for unit in before if not unit.special or unit is before[-1]]
    return "".join(labels[-count:]).replace("·", " ").strip(), len(labels) <= count
