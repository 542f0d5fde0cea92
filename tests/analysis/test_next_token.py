"""The most likely next tokens are the model's own, over its whole vocabulary."""

from __future__ import annotations

import math

import pytest
import torch

from analysis.next_token import end_of_text, next_tokens
from analysis.units import Unit
from model_runner import Capture, CaptureRequest
from tests.analysis.made import causal_noise, embedded, made_capture

LOGITS = [0.5, 3.0, -1.0, 2.0, 2.5]


def _capture(logits: list[float]) -> Capture:
    return made_capture(causal_noise(3), logits=torch.tensor(logits))


def _softmax(logits: list[float]) -> list[float]:
    total = math.fsum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def test_tokens_come_by_falling_probability_with_the_rest_in_one() -> None:
    found = next_tokens(_capture(LOGITS), count=3)
    expected = _softmax(LOGITS)
    assert found.ids == (1, 4, 3)
    assert found.probabilities == pytest.approx([expected[i] for i in (1, 4, 3)], abs=1e-12)
    assert found.rest == pytest.approx(expected[0] + expected[2], abs=1e-12)


def test_more_tokens_than_the_vocabulary_has_are_all_of_them() -> None:
    found = next_tokens(_capture(LOGITS), count=50)
    assert found.ids == (1, 4, 3, 0, 2)
    assert 0.0 <= found.rest <= 1e-12


def test_logits_too_large_for_an_exponential_are_probabilities_all_the_same() -> None:
    found = next_tokens(_capture([2000.0, 2000.0, -2000.0]), count=2)
    assert found.probabilities == pytest.approx((0.5, 0.5), abs=1e-12)
    assert found.rest == 0.0


def test_the_embedded_model_knows_the_capital_of_france() -> None:
    runner = embedded()
    found = next_tokens(runner.capture(CaptureRequest(text="The capital of France is")))
    assert runner.token_text(found.ids[0]).startswith("·P")
    assert sum(found.probabilities) + found.rest == pytest.approx(1.0, abs=1e-12)
    assert list(found.probabilities) == sorted(found.probabilities, reverse=True)


def test_a_position_inside_the_text_is_what_its_beginning_predicts() -> None:
    # "The capital of" begins both texts, and what follows cannot be seen there.
    runner = embedded()
    whole = runner.capture(CaptureRequest(text="The capital of France is"))
    start = runner.capture(CaptureRequest(text="The capital of"))
    inside, at_end = next_tokens(whole, len(start.tokens) - 1), next_tokens(start)
    assert inside.ids == at_end.ids
    assert inside.probabilities == pytest.approx(at_end.probabilities, abs=1e-5)  # other shapes, other summation order


@pytest.mark.parametrize(
    "position, expected",
    [
        (0, ("", True)),
        (1, ("⟨bos⟩", True)),
        (2, ("a", True)),
        (4, ("a 北", True)),
        (6, ("北 c d", False)),
        (7, ("c d⟨/s⟩", False)),
    ],
)
def test_the_end_of_a_text_has_a_special_token_only_where_it_ends_with_it(position, expected) -> None:
    labels = [("⟨bos⟩", 0, 1), ("a", 1, 2), ("·北", 2, 4), ("·c", 4, 5), ("·d", 5, 6), ("⟨/s⟩", 6, 7)]
    units = [Unit(label, start, stop, (label,), special=label.startswith("⟨")) for label, start, stop in labels]
    assert end_of_text(units, position, count=3) == expected
    read = [Unit("·read", 0, 2, ("·read",))]  # by an encoder, before what its decoder writes
    written = [Unit(one.label, one.start + 2, one.stop + 2, one.parts, one.special) for one in units]
    assert end_of_text(read + written, position + 2, first=2, count=3) == expected
