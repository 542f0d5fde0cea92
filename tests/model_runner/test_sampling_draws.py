"""Draws: the same on every machine and at every start, each token as often as it is likely."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from model_runner.sampling import Sampling, draw, stages, uniforms

N_DRAWS = 100_000
FIRST = [0.42850130796432495, 0.8862752318382263, 0.7272042632102966]  # seed 7, position 12


def test_the_numbers_are_these_on_every_machine():
    assert uniforms(7, 12, 3) == FIRST


def test_the_numbers_are_the_same_at_another_start():
    script = "from model_runner.sampling import uniforms; print(uniforms(7, 12, 3))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str(FIRST)


def test_more_numbers_begin_with_the_same_ones():
    assert uniforms(7, 12, 1000)[:3] == FIRST


def test_every_seed_and_every_position_has_numbers_of_its_own():
    firsts = {uniforms(seed, position, 1)[0] for seed in range(-20, 20) for position in range(20)}
    assert len(firsts) == 800


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
    """χ² over 30 tokens and 100,000 draws: above 66.6 once in ten thousand seeds, and these two are not."""
    logits = torch.randn(30, generator=torch.Generator().manual_seed(seed))
    probabilities = stages(logits, Sampling(temperature=0.8), [])[-1].probabilities
    drawn = [draw(probabilities, uniform) for uniform in uniforms(seed, 5, N_DRAWS)]
    expected = N_DRAWS * probabilities.numpy()
    assert expected.min() > 5
    counts = np.bincount(drawn, minlength=30)
    assert float(((counts - expected) ** 2 / expected).sum()) < 66.6
