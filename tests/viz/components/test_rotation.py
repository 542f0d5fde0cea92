"""The components on positions: their payloads, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components import made_positions as made
from tests.viz.components.test_packing import unpacked


def test_the_pairs_of_q_and_k_arrive_as_they_were():
    meta, arrays = unpacked(made.turning())
    np.testing.assert_array_equal(arrays["q"], made.vectors(0))
    np.testing.assert_array_equal(arrays["k"], made.vectors(1))
    np.testing.assert_allclose(arrays["theta"], made.theta(), rtol=1e-7)
    assert (meta["own"], meta["position"], meta["context"]) == (7, 7, 2048)


def test_the_slider_reaches_the_token_of_a_long_text_and_four_contexts():
    meta, _ = unpacked(made.turning(own=900, position=900))
    assert (meta["near"], meta["farthest"]) == (901, 4 * 2048)


@pytest.mark.parametrize(
    "make, changes",
    [
        (made.turning, {"q": made.vectors(0, 3)}),
        (made.turning, {"dimensions": np.zeros((3, 2), int)}),
        (made.shifting, {"k": made.vectors(0, 3)}),
        (made.splitting, {"key": 99}),
        (made.splitting, {"rest": np.zeros(2)}),
        (made.splitting, {"contributions": np.zeros((3, 3))}),
        (made.sweeping, {"head": made.HEADS}),
        (made.sweeping, {"distances": np.arange(3)}),
        (made.sweeping, {"facts": ["1 %"]}),
        (made.comparing, {"curves": np.zeros(3)}),
    ],
)
def test_numbers_that_do_not_fit_each_other_are_refused(make, changes):
    with pytest.raises((ValueError, TypeError)):
        make(**changes)


def test_every_scheme_has_its_own_arrays():
    meta, arrays = unpacked(made.comparing())
    assert [scheme["name"] for scheme in meta["schemes"]] == ["alibi", "learned"]
    assert {name: array.shape for name, array in arrays.items()} == {
        "matrix0": (16, 16),
        "curves0": (2, 16),
        "matrix1": (4, 4),
        "curves1": (1, 4),
    }
