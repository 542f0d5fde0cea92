"""Every step of a cell follows from the one before, and each agrees with the capture of the whole head."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import torch

from analysis.cell import DRAWN_KEYS, Cell, Push, cell, strongest_key
from model_runner.capture import Capture
from model_runner.edits import Edit, MeanHead, ScaledHead, SharpenedHead, SwappedHeads
from model_runner.errors import NoAttribution, NoWeights
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.families import FAMILIES, WINDOW
from tests.model_runner.tiny import byte_tokenizer

TEXT = "the dog chased the dog again"
LONG_TEXT = TEXT * 6  # 168 tokens
LAYER, HEAD, QUERY = 1, 2, 20
CAUSAL = ("llama", "gemma2", "gpt-oss", "deepseek-v3", "opt", "gpt2", "granite")
# The capture's own numbers are float32 sums of at most 32 products of order 1: some 1e-6 from these in float64.
CLOSE = 2e-5


@functools.cache
def captured(
    family: str, text: str = TEXT, dtype: torch.dtype = torch.float32, edits: tuple[Edit, ...] = ()
) -> Capture:
    model: Any = next(line for line in FAMILIES if line.name == family).build()
    return LocalRunner(model.to(dtype), byte_tokenizer(), name=family).capture(CaptureRequest(text=text, edits=edits))


def read(family: str, key: int, *, layer: int = LAYER, query: int = QUERY) -> Cell:
    return cell(captured(family), layer, HEAD, query, key)


@pytest.mark.parametrize("family", CAUSAL)
def test_the_products_add_up_to_the_dot_and_lead_to_the_captures_score_and_weight(family: str) -> None:
    capture = captured(family)
    for key in (0, 7, QUERY):
        found = read(family, key)
        assert found.product.sum() == found.dot
        assert np.array_equal(found.product, found.q * found.k)
        assert found.scaled == found.dot * found.scale
        assert found.score == pytest.approx(float(capture.scores(LAYER, HEAD)[QUERY, key]), abs=CLOSE)
        assert found.weight == pytest.approx(math.exp(found.score - found.row.lse), abs=CLOSE)
        assert found.weight == pytest.approx(float(capture.weights(LAYER, HEAD)[QUERY, key]), abs=CLOSE)


@pytest.mark.parametrize("family", CAUSAL)
def test_the_row_is_the_captures_row(family: str) -> None:
    capture, row = captured(family), read(family, 3).row
    assert np.allclose(row.weights, capture.weights(LAYER, HEAD)[QUERY].double(), rtol=0, atol=CLOSE)
    assert np.array_equal(np.isneginf(row.scores), ~row.keep)
    assert np.array_equal(row.keep, row.weights > 0)
    assert row.weights.sum() + (row.sink or 0.0) == pytest.approx(1, abs=CLOSE)


@pytest.mark.parametrize("family", CAUSAL)
def test_values_mixed_by_the_weights_are_the_models_own_output(family: str) -> None:
    found, record = read(family, 3), captured(family).record(LAYER)
    assert np.array_equal(found.output, record.output[QUERY, HEAD].double().numpy())
    assert np.abs(found.mixed - found.output).max() == found.difference <= CLOSE
    values = record.v[HEAD // record.group].double().numpy()
    by_loop = sum(found.row.weights[key] * values[key] for key in range(len(values)))
    assert np.allclose(found.mixed, by_loop, rtol=0, atol=1e-12)
    assert np.allclose(
        found.row.contributions, [np.linalg.norm(w * v) for w, v in zip(found.row.weights, values, strict=True)]
    )


def test_vectors_are_those_attention_saw_with_the_keys_and_values_of_the_shared_head() -> None:
    capture, found = captured("llama"), read("llama", 5)
    assert np.array_equal(found.q, capture.q(LAYER)[HEAD, QUERY].numpy())
    assert np.array_equal(found.k, capture.k(LAYER)[1, 5].numpy())
    assert np.array_equal(found.v, capture.v(LAYER)[1, 5].numpy())
    assert (found.kv_head, found.group) == (1, (2, 3))
    assert found.rotated
    assert not read("gpt2", 5).rotated
    assert read("gpt2", 5).group == (HEAD,)


def test_a_masked_cell_has_no_score_and_no_weight() -> None:
    found = read("llama", QUERY + 1)
    assert not found.visible
    assert found.score == -math.inf
    assert found.weight == 0
    assert math.isfinite(found.dot)


def test_a_key_outside_the_sliding_window_is_masked() -> None:
    assert read("gemma2", QUERY - WINDOW + 1, layer=0).visible
    assert not read("gemma2", QUERY - WINDOW, layer=0).visible
    assert read("gemma2", 0, layer=0).window == WINDOW


def test_the_scale_is_named_as_a_root_only_where_it_is_one() -> None:
    assert read("llama", 0).root == 8
    assert read("gemma2", 0).root == 9
    assert read("opt", 0).root is None  # scale 1
    assert read("granite", 0).root == 25  # 0.2


def test_the_soft_cap_comes_between_scale_and_mask() -> None:
    found = read("gemma2", 3)
    assert found.softcap == 2.0
    assert found.capped == 2.0 * math.tanh(found.scaled / 2.0) != found.scaled
    assert read("llama", 3).capped == read("llama", 3).scaled


def test_a_sink_takes_its_share_of_the_row() -> None:
    found = read("gpt-oss", 3)
    assert found.row.sink is not None
    assert 0 < found.row.sink < 1
    assert found.row.weights.sum() < 1
    assert read("llama", 3).row.sink is None


def test_top_keys_fall_by_contribution_and_leave_masked_ones_out() -> None:
    row = read("llama", 3).row
    assert sorted(row.top) == list(range(QUERY + 1))
    lengths = [row.contributions[key] for key in row.top]
    assert lengths == sorted(lengths, reverse=True)


def test_every_key_of_a_short_text_is_drawn() -> None:
    row = read("llama", 3).row
    assert row.drawn.tolist() == list(range(len(TEXT)))
    assert row.rest == 0


def test_of_a_long_text_the_heaviest_visible_keys_and_the_chosen_one_are_drawn() -> None:
    capture, query = captured("llama", LONG_TEXT), 150
    weights = capture.weights(LAYER, HEAD)[query].numpy()
    lightest = int(weights[: query + 1].argmin())
    for key in (lightest, 160, int(weights.argmax())):
        found = cell(capture, LAYER, HEAD, query, key)
        drawn = found.row.drawn.tolist()
        assert len(drawn) == DRAWN_KEYS
        assert drawn == sorted(set(drawn))
        assert key in drawn
        others = set(drawn) - {key}
        left_out = set(range(query + 1)) - set(drawn)
        assert max(weights[list(left_out)]) <= min(weights[list(others)])
        assert np.array_equal(found.row.k[drawn.index(key)], found.k)
        assert found.row.dots[key] == pytest.approx(found.dot, abs=1e-12)
        assert found.row.rest == pytest.approx(weights[list(left_out)].sum(), abs=1e-6)


def test_an_early_query_of_a_long_text_draws_only_what_it_sees_and_the_chosen_key() -> None:
    drawn = cell(captured("llama", LONG_TEXT), LAYER, HEAD, 2, 100).row.drawn.tolist()
    assert drawn == [0, 1, 2, 100]


def test_the_push_names_the_ends_of_the_captures_push() -> None:
    capture, push = captured("llama"), read("llama", 3).push
    assert isinstance(push, Push)
    values = capture.direct_logits(LAYER, HEAD, QUERY)
    assert push.promoted[0] == (int(values.argmax()), float(values.max()))
    assert push.suppressed[0] == (int(values.argmin()), float(values.min()))
    assert [value for _, value in push.promoted] == sorted((value for _, value in push.promoted), reverse=True)
    assert len(push.promoted) == len(push.suppressed) == 5
    assert push.mean == pytest.approx(float(values.double().mean()))
    logits = capture.logits(QUERY)
    predicted = int(logits.argmax())
    assert push.predicted == (predicted, float(values[predicted]), float(logits[predicted]))


def test_a_model_whose_push_cannot_be_separated_keeps_its_reason_and_all_other_steps() -> None:
    found = read("gemma2", 3)
    assert isinstance(found.push, NoAttribution)
    assert found.weight > 0


def test_bfloat16_steps_still_lead_to_the_captures_weight() -> None:
    capture = captured("llama", TEXT, torch.bfloat16)
    found = cell(capture, LAYER, HEAD, QUERY, 5)
    # Scores and weights are float32 from the same bfloat16 vectors; only the model's output was rounded to bfloat16.
    assert found.weight == pytest.approx(math.exp(found.score - found.row.lse), abs=CLOSE)
    assert found.difference <= 2**-8 * (np.abs(found.output).max() + 1)


def test_the_strongest_key_has_the_largest_weight_of_the_row() -> None:
    weights = captured("llama").weights(LAYER, HEAD)[QUERY]
    assert float(weights[strongest_key(captured("llama"), LAYER, HEAD, QUERY)]) == float(weights.max())


def passed_on_of(edit: Edit) -> tuple[Cell, np.ndarray, np.ndarray]:
    """The edited cell, and in float64 what its head and the next one had as output at every token before the edit."""
    found = cell(captured("llama", edits=(edit,)), LAYER, HEAD, QUERY, 3)
    plain = captured("llama").record(LAYER).output.double().numpy()
    return found, plain[:, HEAD], plain[:, HEAD + 1]


@pytest.mark.parametrize(
    "edit, expected",
    [
        (ScaledHead(LAYER, HEAD, 2.0), lambda own, _next: 2 * own[QUERY]),
        (ScaledHead(LAYER, HEAD, 0.0), lambda own, _next: 0 * own[QUERY]),
        (MeanHead(LAYER, HEAD), lambda own, _next: own.mean(axis=0)),
        (SwappedHeads(LAYER, HEAD, HEAD + 1), lambda _own, other: other[QUERY]),
    ],
)
def test_an_edited_head_keeps_its_output_and_passes_on_what_the_edit_made_of_it(edit, expected) -> None:
    found, own, other = passed_on_of(edit)
    assert found.changed
    assert np.allclose(found.output, own[QUERY], rtol=0, atol=CLOSE)
    assert found.difference <= CLOSE
    assert np.allclose(found.passed_on, expected(own, other), rtol=0, atol=CLOSE)


def test_the_push_is_that_of_what_is_passed_on() -> None:
    plain, doubled, silent = (
        cell(captured("llama", edits=edits), 1, HEAD, QUERY, 3).push
        for edits in ((), (ScaledHead(1, HEAD, 2.0),), (ScaledHead(1, HEAD, 0.0),))
    )
    assert isinstance(plain, Push)
    assert isinstance(doubled, Push)
    assert isinstance(silent, Push)
    # The held norm is that of the changed stream: one scale for all tokens, so the order and the proportions stay.
    assert [token for token, _ in doubled.promoted] == [token for token, _ in plain.promoted]
    first, last = (np.array([value for _, value in push.promoted]) for push in (plain, doubled))
    assert np.allclose(last / last[0], first / first[0], rtol=0, atol=1e-4)
    assert silent.promoted == silent.suppressed == ()
    assert (silent.mean, silent.predicted[1]) == (0, 0)


def test_what_changes_only_where_a_head_looks_is_passed_on_as_it_is() -> None:
    assert not read("llama", 3).changed
    assert not cell(captured("llama", edits=(SharpenedHead(LAYER, HEAD, 0.5),)), LAYER, HEAD, QUERY, 3).changed
    assert not cell(captured("llama", edits=(ScaledHead(LAYER, HEAD + 1, 0.0),)), LAYER, HEAD, QUERY, 3).changed


def test_a_layer_without_weights_is_refused() -> None:
    with pytest.raises(NoWeights):
        cell(captured("jamba"), 0, 0, 3, 1)
