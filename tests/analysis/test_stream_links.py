"""Links between streams and their reach: against loops, and on weights made for the test."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.stream_links import link_shares, needed_streams, strongest_links
from tests.pages.expected import capture


def test_a_share_of_all_heads_is_the_largest_moved_length_of_its_row():
    one = capture()
    found = link_shares(one)
    for layer, query in ((0, 3), (6, 7)):
        moved = []
        for key in range(query + 1):
            lengths = [
                float(one.weights(layer, head)[query, key]) * float(one.v(layer)[head // 2, key].norm())
                for head in range(one.n_heads)
            ]
            moved.append(max(lengths))
        np.testing.assert_allclose(found[layer, query, : query + 1], np.array(moved) / sum(moved), atol=1e-6)
        assert not found[layer, query, query + 1 :].any()


def test_a_share_of_one_head_is_its_weight():
    np.testing.assert_allclose(link_shares(capture(), 4)[6], capture().weights(6, 4).numpy(), atol=1e-6)


def test_a_way_through_two_links_is_found_and_one_below_the_threshold_is_not():
    shares = np.zeros((2, 4, 4))
    shares[1, 3, 2] = 0.5  # the last reads the third in the upper layer,
    shares[0, 2, 0] = 0.4  # which read the first in the lower one,
    shares[0, 3, 1] = 0.1  # and the second, a little, itself
    needed, links = needed_streams(shares, 0.2)
    assert needed.astype(int).tolist() == [[1, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    assert [(one.layer, one.query, one.key) for one in links] == [(1, 3, 2), (0, 2, 0)]
    assert needed_streams(shares, 0.05)[0][0].all()


@pytest.mark.parametrize("least", [0.05, 0.2, 0.5])
def test_what_is_reached_is_what_the_powers_of_the_links_reach(least: float):
    shares = link_shares(capture())
    layers, n, _ = shares.shape
    reach = np.eye(n)[-1]
    needed = needed_streams(shares, least)[0]
    for layer in reversed(range(layers)):
        reach = reach @ ((shares[layer] >= least) + np.eye(n))
        np.testing.assert_array_equal(needed[layer], reach > 0)


def test_a_layer_without_weights_has_no_links():
    shares = np.full((1, 2, 2), np.nan)
    assert strongest_links(shares) == []
    assert needed_streams(shares, 0.05)[0].tolist() == [[False, True], [False, True]]
