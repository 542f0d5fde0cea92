"""Draws: the same on every machine and in every process, each token as often as its probability."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model_runner.sampling import draw, stages, threefry, uniforms
from model_runner.transforms import Sampling

N_DRAWS = 30_000
FIRST = [0.7215701341629028, 0.15580999851226807, 0.689731776714325]  # seed 7, position 12
THREEFRY = [  # key, counter, words: Random123's known answers for threefry2x32, 20 rounds
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
SEEDS = (*range(-300, 300), 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -(2**64), 10**30, 10**30 + 1, 2**200, -(2**200))


@pytest.mark.parametrize("key, counter, words", THREEFRY)
def test_the_random_words_are_the_known_answers_of_the_paper_alone_and_in_a_row(key, counter, words):
    assert threefry(key, counter) == words
    first, second = threefry(key, (counter[0], np.array([counter[1], 5], dtype=np.uint64)))
    assert (first[0], second[0]) == words


def test_the_numbers_are_these_on_every_machine():
    assert uniforms(7, 12, 3) == uniforms(7, 12, 1000)[:3] == FIRST
    assert uniforms(7, 12, 0) == []


def test_every_seed_and_every_position_has_numbers_of_its_own():
    starts = {tuple(uniforms(seed, position, 3)) for seed in SEEDS for position in range(3)}
    assert len(starts) == 3 * len(SEEDS)


AXES = {  # one number a seed, a position or a draw, all else the same
    "seeds": lambda: [uniforms(seed, 8, 1)[0] for seed in range(4000)],
    "positions": lambda: [uniforms(0, position, 1)[0] for position in range(4000)],
    "draws": lambda: uniforms(0, 8, 4000),
}


@pytest.mark.parametrize("axis", AXES)
def test_neighbouring_numbers_are_evenly_spread_and_know_nothing_of_each_other(axis):
    """Mean, χ² over 64 parts, χ² over 8 × 8 pairs of neighbours, and correlation at distances 1 to 8.

    Each bound is passed by chance once in 10,000 times or less; the numbers are always these, so the test is steady.
    """
    numbers = np.array(AXES[axis]())
    count = len(numbers)
    assert abs(numbers.mean() - 0.5) < 4 / np.sqrt(12 * count)
    pairs = (numbers[::2] * 8).astype(int) * 8 + (numbers[1::2] * 8).astype(int)
    for parts in ((numbers * 64).astype(int), pairs):
        expected = len(parts) / 64
        assert float(((np.bincount(parts, minlength=64) - expected) ** 2 / expected).sum()) < 112  # 63 are expected
    for distance in range(1, 9):
        assert abs(np.corrcoef(numbers[distance:], numbers[:-distance])[0, 1]) < 4 / np.sqrt(count)


def test_the_numbers_are_exact_in_float32_and_below_one():
    numbers = np.array(uniforms(3, 4, 10_000))
    assert np.array_equal(numbers.astype(np.float32).astype(float), numbers)
    assert numbers.min() >= 0
    assert numbers.max() < 1


def test_a_draw_is_the_first_token_whose_cumulated_probability_exceeds_the_number():
    probabilities = torch.tensor([0.25, 0.0, 0.5, 0.25, 0.0])
    for uniform, token in [(0.0, 0), (0.2499, 0), (0.25, 2), (0.7499, 2), (0.75, 3), (1 - 2**-24, 3)]:
        assert draw(probabilities, uniform) == token


def test_probabilities_that_rounding_left_short_of_one_still_give_a_token():
    assert draw(torch.tensor([0.5, 0.4999]), 1 - 2**-24) == 1


def test_a_removed_token_is_never_drawn():
    probabilities = stages(torch.tensor([-torch.inf, 0.0, -torch.inf]), Sampling(), [])[-1].probabilities
    assert {draw(probabilities, uniform) for uniform in [0.0, 1 - 2**-24, *uniforms(0, 0, 1000)]} == {1}


@pytest.mark.parametrize("seed", [0, 1])
def test_each_token_is_drawn_as_often_as_it_is_likely(seed):
    """χ² over 30 tokens and 30,000 draws: above 66.6 once in ten thousand seeds, and these two are not."""
    logits = torch.randn(30, generator=torch.Generator().manual_seed(seed))
    probabilities = stages(logits, Sampling(temperature=0.8), [])[-1].probabilities
    drawn = [draw(probabilities, uniform) for uniform in uniforms(seed, 5, N_DRAWS)]
    expected = N_DRAWS * probabilities.numpy()
    assert expected.min() > 5
    counts = np.bincount(drawn, minlength=30)
    assert float(((counts - expected) ** 2 / expected).sum()) < 66.6
