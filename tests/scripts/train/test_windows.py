"""Windows of a part, and repeated scrambles."""

from __future__ import annotations

import numpy as np

from scripts.train.windows import Part, repeated

BOS = 0


def test_a_window_starts_with_bos_and_stays_inside_the_part() -> None:
    part = Part(np.arange(1, 101, dtype=np.uint16), np.array([0, 50, 95]))
    rng = np.random.default_rng(0)
    windows = [part.window(rng, 20, BOS) for _ in range(500)]
    assert {window[0] for window in windows} == {BOS}
    assert all((np.diff(window[1:]) == 1).all() and len(window) == 20 for window in windows)
    assert max(window[-1] for window in windows) == 100
    assert part.tokens[0] == 1  # the part itself is not changed


def test_most_windows_start_at_a_document() -> None:
    part = Part(np.arange(1, 10_001, dtype=np.uint16), np.array([5000]))
    rng = np.random.default_rng(0)
    share = np.mean([part.window(rng, 20, BOS)[1] == 5002 for _ in range(2000)])
    assert abs(share - 0.6) < 0.044  # 2000 draws: four standard deviations of 0.011


def test_a_repeated_window_has_a_period_and_draws_no_special_tokens() -> None:
    rng = np.random.default_rng(0)
    window = np.concatenate([[BOS], np.arange(1000, 1063)])
    borrowed = 0
    for _ in range(200):
        text = repeated(rng, window, vocab=500)
        assert text[0] == BOS
        assert len(text) == len(window)
        body = text[1:]
        assert any((body[period:] == body[:-period]).all() for period in range(5, 33))
        assert body.min() >= 3
        borrowed += set(body) <= set(window)
    assert 60 < borrowed < 140  # half of 200, four standard deviations of 7.1 and a little
