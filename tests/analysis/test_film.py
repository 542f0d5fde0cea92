"""A film's frames: how each token was chosen, what it attended to, and the cache, against slow references."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import torch

from analysis.film import (
    CACHE_ROWS,
    CANDIDATES,
    COLUMNS,
    STRIP_MASKED,
    attention_rows,
    bin_of,
    cache_columns,
    choice,
    largest,
    rows_of_strip,
    strips,
)
from model_runner import CaptureRequest, GenerateRequest, Sampling, Step, load_runner
from model_runner.mask_rule import MaskRule
from model_runner.sampling import stages
from tests.analysis.made import made_capture

TEXT = "The dog chased the squirrel because it"
DRAWN = Sampling(seed=1, top_p=0.9)
STEP = 1 / 254  # of a weight in the strip


@functools.cache
def steps(n: int = 6, sampling: Sampling = DRAWN) -> tuple[Step, ...]:
    return tuple(load_runner("default").generate(GenerateRequest(TEXT, n, sampling)))


@functools.cache
def whole():
    """One forward over everything that was generated."""
    ids = tuple(step.token.id for step in steps())
    return load_runner("default").capture(CaptureRequest(TEXT, continuation=ids))


def made_choice(logits: list[float], sampling: Sampling, token: int | None):
    return choice(stages(torch.tensor(logits), sampling, []), token, "sampled")


# -- how a token was chosen -------------------------------------------------------------------------------------------


def test_a_choice_carries_the_models_probability_rank_and_entropy():
    logits = [0.0, 2.0, 1.0, -1.0]
    total = sum(math.exp(x) for x in logits)
    p = [math.exp(x) / total for x in logits]
    found = made_choice(logits, Sampling(), 2)
    assert found.probability == pytest.approx(p[2])
    assert found.log_probability == pytest.approx(math.log(p[2]))
    assert found.rank == 2
    assert found.entropy == pytest.approx(-sum(x * math.log2(x) for x in p))
    assert [one.id for one in found.candidates] == [1, 2, 0, 3]
    assert [one.probability for one in found.candidates] == pytest.approx([p[1], p[2], p[0], p[3]])
    assert (found.n_kept, found.kept_mass) == (4, pytest.approx(1.0))


def test_what_the_settings_removed_stays_in_the_list_with_its_probability():
    found = made_choice([3.0, 2.0, 1.0, 0.0], Sampling(top_k=2), 0)
    assert [one.kept for one in found.candidates] == [True, True, False, False]
    assert [one.final for one in found.candidates][2:] == [0.0, 0.0]
    assert sum(one.final for one in found.candidates) == pytest.approx(1.0)
    assert found.n_kept == 2
    assert found.kept_mass == pytest.approx(sum(one.probability for one in found.candidates[:2]))


def test_a_chosen_token_far_down_is_listed_too():
    logits = [float(-i) for i in range(100)]
    found = made_choice(logits, Sampling(), 77)
    assert [one.id for one in found.candidates] == [*range(CANDIDATES), 77]
    assert found.rank == 78
    assert found.final_rest == pytest.approx(1 - sum(one.probability for one in found.candidates))


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=2.0), Sampling(temperature=0.45, top_p=0.9)])
def test_what_a_token_was_drawn_from_is_one_distribution(sampling):
    logits = torch.randn(300, generator=torch.Generator().manual_seed(0)) * 3
    done = stages(logits, sampling, [])
    own, last = done[0], done[-1]
    found = choice(done, 7, "sampled")
    assert sum(one.final for one in found.candidates) + found.final_rest == pytest.approx(1)
    assert (found.final_entropy, found.entropy) == (last.entropy, own.entropy)
    assert found.final == pytest.approx(float(last.probabilities[7]))
    assert found.final_rank == 1 + int((last.probabilities > last.probabilities[7]).sum())
    assert found.probability == pytest.approx(float(own.probabilities[7]))
    assert found.changed == (sampling != Sampling())


def test_equals_share_a_rank():
    assert made_choice([1.0, 1.0, 0.0], Sampling(), 1).rank == 1


def test_one_possible_token_has_no_entropy_and_no_negative_zero():
    found = made_choice([0.0, -math.inf, -math.inf], Sampling(), 0)
    assert math.copysign(1, found.entropy) == 1
    assert (found.entropy, found.probability, found.n_kept) == (0.0, 1.0, 1)


def test_before_the_first_token_nothing_is_chosen():
    found = made_choice([0.0, 1.0], Sampling(), None)
    assert (found.probability, found.rank, found.log_probability) == (None, None, None)


def test_a_step_of_the_model_agrees_with_its_own_probability_and_rank():
    for step in steps():
        found = choice(step.stages, step.token.id, "sampled")
        assert found.probability == pytest.approx(step.probability, rel=1e-5)
        assert found.rank == step.rank


# -- where the tokens look --------------------------------------------------------------------------------------------


def test_rows_of_the_last_capture_are_what_each_token_saw_when_it_was_the_newest():
    last, layer, head = steps()[-1].capture, 3, 7
    first = steps()[0].position
    rows = attention_rows(last, layer, head, first=first)
    for step, row in zip(steps(), rows, strict=True):
        own = step.capture.weights(layer, head)[-1]
        # two float32 forwards of other shapes: 1e-7 of scores around 10 is 1e-6 of a score, and of its weight
        np.testing.assert_allclose(row, own.numpy(), atol=1e-5)
        assert len(row) == step.position + 1


def test_rows_are_those_of_one_whole_forward():
    for row, expected in zip(attention_rows(steps()[-1].capture, 2, 1, first=0), whole().weights(2, 1)):
        np.testing.assert_allclose(row, expected[: len(row)].numpy(), atol=1e-5)


def test_a_masked_key_is_not_a_number():
    weights = torch.full((1, 1, 4, 4), 1e-9)
    for i in range(4):
        weights[0, 0, i, max(0, i - 1) : i + 1] = 1 / min(i + 1, 2)
    window = MaskRule(lambda b, h, q, k: (k <= q) & (k > q - 2))
    row = attention_rows(made_capture(weights, mask=window), 0, 0, first=3)[0]
    np.testing.assert_array_equal(np.isnan(row), [True, True, False, False])
    np.testing.assert_allclose(row[2:], [0.5, 0.5])


def test_a_column_of_several_tokens_holds_the_largest_weight():
    capture = steps()[-1].capture
    for bin in (1, 2, 3, 5):
        for row in attention_rows(capture, 1, 1, first=4):
            weights, keys = largest(row, bin)
            expected = [max(row[i : i + bin]) for i in range(0, len(row), bin)]
            np.testing.assert_array_equal(weights, np.array(expected, dtype=np.float32))
            np.testing.assert_array_equal(row[keys], weights)
            np.testing.assert_array_equal(keys // bin, range(len(weights)))


def test_a_column_names_no_masked_key_where_it_has_another():
    weights, keys = largest(np.array([np.nan, 0.0, np.nan, np.nan, 0.4, np.nan, 0.6], dtype=np.float32), 2)
    np.testing.assert_array_equal(weights, np.array([0.0, np.nan, 0.4, 0.6], dtype=np.float32))
    assert keys[[0, 2, 3]].tolist() == [1, 4, 6]


def test_the_strip_holds_the_open_layers_heads_and_the_largest_of_each_other_layer_to_within_half_a_level():
    capture = steps()[-1].capture
    rows = rows_of_strip(capture, 2)
    assert rows == ((0, None), (1, None), *((2, head) for head in range(8)), *((layer, None) for layer in range(3, 8)))
    found = strips(capture, rows, first=10, bin=1)[0]
    for (layer, head), row in zip(rows, found, strict=True):
        heads = range(8) if head is None else [head]
        expected = [max(float(capture.weights(layer, one)[10, key]) for one in heads) for key in range(11)]
        np.testing.assert_allclose(row / 254, expected, atol=STEP / 2 + 1e-6)


def test_masked_cells_of_the_strip_have_a_level_of_their_own():
    weights = torch.full((1, 2, 2, 2), 0.5)
    own = MaskRule(lambda b, h, q, k: k == q)
    assert strips(made_capture(weights, mask=own), [(0, 0), (0, 1)], first=1, bin=1)[0][:, 0].tolist() == [
        STRIP_MASKED,
        STRIP_MASKED,
    ]


def test_a_layer_without_attention_has_no_rows_in_the_strip():
    capture = made_capture(torch.full((3, 2, 2, 2), 0.5), without=(1,))
    assert rows_of_strip(capture, 0) == ((0, 0), (0, 1), (2, None))


@pytest.mark.parametrize("n, expected", [(1, 1), (COLUMNS, 1), (COLUMNS + 1, 2), (2 * COLUMNS, 2), (2048, 13)])
def test_no_picture_has_more_columns_than_it_has_room_for(n, expected):
    assert bin_of(n) == expected
    assert math.ceil(n / bin_of(n)) <= COLUMNS


# -- the cache --------------------------------------------------------------------------------------------------------


def test_the_columns_are_the_keys_and_values_of_the_heads_group():
    capture = steps()[-1].capture
    found = cache_columns(capture, 3, 7, first=5, bin=1)
    np.testing.assert_array_equal(found.k, capture.k(3)[3, 5:].numpy())
    np.testing.assert_array_equal(found.v, capture.v(3)[3, 5:].numpy())
    assert (found.first, found.pooled) == (5, 1)


def test_pooled_columns_begin_with_the_bin_of_the_first_token_and_keep_the_largest_with_its_sign():
    capture = steps()[-1].capture
    found = cache_columns(capture, 3, 7, first=5, bin=3)
    assert found.first == 1
    keys = capture.k(3)[3, 3:].numpy()
    for column, values in enumerate(found.k):
        block = keys[3 * column : 3 * column + 3]
        expected = block[np.abs(block).argmax(axis=0), np.arange(block.shape[1])]
        np.testing.assert_array_equal(values, expected)


def test_more_dimensions_than_rows_share_them(monkeypatch):
    monkeypatch.setattr("analysis.film.CACHE_ROWS", 10)
    found = cache_columns(steps()[-1].capture, 0, 0, first=0, bin=1)
    assert found.pooled == math.ceil(32 / 10)
    assert found.k.shape[1] <= 10 <= CACHE_ROWS
