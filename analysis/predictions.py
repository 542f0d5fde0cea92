"""The model's answers to the questions for a class: the next token, where a token attends, the effect of ablation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from model_runner.capture import Capture, index


@dataclass(frozen=True, eq=False)
class Distribution:
    """``probabilities`` by index, [values] in float64; for keys only the visible ones."""

    probabilities: np.ndarray

    @property
    def entropy(self) -> float:
        """Entropy in bits (Shannon 1948, section 6), after normalization if a learned sink takes a part."""
        p = self.probabilities[self.probabilities > 0]
        p = p / p.sum()
        return float(-(p * np.log2(p)).sum()) + 0.0

    def likeliest(self, count: int) -> list[int]:
        """The likeliest indices, ties in order."""
        return np.argsort(-self.probabilities, kind="stable")[:count].tolist()


def of_next_token(capture: Capture) -> Distribution:
    """Over the whole vocabulary, softmax of the last token's logits in float64. Raises NoLogits."""
    return Distribution(torch.softmax(capture.logits(-1).double(), dim=-1).cpu().numpy())


def of_looks(capture: Capture, layer: int, head: int, query: int) -> Distribution:
    """One row's weights, from the first key to the last visible one. Raises NoSuchPlace."""
    query = index("position", query, len(capture.tokens))
    row = capture.weights(layer, head, queries=slice(query, query + 1), shares=True)[0].double().cpu().numpy()
    record = capture.record(layer)
    seen = record.mask.tile(slice(query, query + 1), slice(0, len(row)), record.q.device, head=head % len(record.q))[0]
    return Distribution(row[: int(seen.nonzero().max()) + 1 if seen.any() else 0])


@dataclass(frozen=True)
class Ablation:
    """The likeliest next token, by its id, and its probability before and after a head is ablated."""

    token: int
    before: float
    after: float

    @property
    def likelier(self) -> bool:
        """True if it is likelier without the head."""
        return self.after > self.before

    @property
    def bits(self) -> tuple[float, float]:
        """The token's surprisal, −log2 p, before and after; infinite for 0."""
        first, second = (-math.log2(p) + 0.0 if p > 0 else math.inf for p in (self.before, self.after))
        return first, second


def of_ablation(before: Capture, after: Capture) -> Ablation:
    """Compare two captures of one text. Raises NoLogits."""
    old, new = of_next_token(before), of_next_token(after)
    token = old.likeliest(1)[0]
    return Ablation(token, float(old.probabilities[token]), float(new.probabilities[token]))
