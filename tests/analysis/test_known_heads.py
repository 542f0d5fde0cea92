"""Known facts about induction heads hold in the embedded model: without them, it does not predict repetition."""

from __future__ import annotations

import random

import torch

from analysis.head_grid import head_grid
from model_runner import CaptureRequest
from model_runner.edits import ScaledHead
from tests.analysis.made import embedded

HEADS = 4  # ablated together
DRAWS = 8  # of as many other heads


def test_without_its_induction_heads_the_model_forgets_what_was_said_before():
    runner, chance = embedded(), random.Random(0)
    once = [chance.randrange(300, runner.info.n_vocab) for _ in range(30)]
    ids, half = once * 2, len(once)

    def second_half(heads: list[tuple[int, int]]) -> float:
        edits = tuple(ScaledHead(layer, head) for layer, head in heads)
        captured = runner.capture(CaptureRequest(text="The", continuation=tuple(ids), edits=edits))
        return float(captured.surprisals()[-half:].mean())

    plain = runner.capture(CaptureRequest(text="The", continuation=tuple(ids)))
    scores = torch.tensor(head_grid(plain).metrics["induction"])
    n_heads = scores.shape[1]
    ranked = [divmod(int(place), n_heads) for place in scores.nan_to_num(-1).flatten().argsort(descending=True)]
    found, others = ranked[:HEADS], ranked[HEADS:]
    by_chance = [second_half(chance.sample(others, HEADS)) for _ in range(DRAWS)]
    assert second_half(found) > max(by_chance)
    assert second_half(found) - second_half([]) > 1.0  # nats a token: it is not a small thing
