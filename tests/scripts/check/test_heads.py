"""Head scores, on a model whose heads do one thing exactly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from scripts.check.heads import head_scores, strongest


def looks(ids: torch.Tensor, kind: str) -> torch.Tensor:
    """One-hot weights (queries, keys): every query looks at the key that a head of this kind would choose."""
    tokens = ids.tolist()
    weights = torch.zeros(len(tokens), len(tokens))
    for query, token in enumerate(tokens):
        earlier = [key for key in range(query) if tokens[key] == token]
        if kind == "previous-token":
            key = max(query - 1, 0)
        elif kind == "induction" and earlier:
            key = earlier[-1] + 1
        else:
            key = 0
        weights[query, key] = 1
    return weights


class Made:
    """Two layers of two heads: (first token, induction), (previous token, first token)."""

    config = SimpleNamespace(vocab_size=10**6)  # so large that no random token comes twice by chance

    def __call__(self, ids: torch.Tensor, output_attentions: bool) -> Any:
        kinds = [["first", "induction"], ["previous-token", "first"]]
        layers = [torch.stack([torch.stack([looks(row, kind) for kind in heads]) for row in ids]) for heads in kinds]
        return SimpleNamespace(attentions=tuple(layers))


def test_each_score_is_one_for_the_head_that_does_just_that() -> None:
    made: Any = Made()
    scores = head_scores(made, 0, length=20, sequences=3)
    # Looking at the first token is looking at the previous one from position 1: one of the 40 queries.
    assert torch.allclose(scores.previous_token[1], torch.tensor([1.0, 1 / 40]))
    assert torch.equal(scores.induction, torch.tensor([[0.0, 1.0], [0.0, 0.0]]))


def test_the_strongest_heads_come_first_under_their_names() -> None:
    ranked = strongest(torch.tensor([[0.1, 0.5], [0.9, 0.2]]), count=3)
    assert [name for name, _ in ranked] == ["L1H0", "L0H1", "L1H1"]
