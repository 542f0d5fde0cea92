"""Dual chunk attention's index map against the paper's lists of positions, written out in loops."""

from __future__ import annotations

import pytest

from attention.dual_chunk import FUTURE, INTER, INTRA, SUCCESSIVE, index_map


def by_the_paper(n_tokens, chunk, local):
    """{(query, key): (distance, region)} from the lists P_k, P_q intra, P_q succ and P_q inter of the paper."""
    trained = chunk + local
    keys = [i for _ in range(n_tokens) for i in range(chunk)][:n_tokens]
    ramp = [*range(chunk, trained)]
    successive = (ramp + [trained - 1] * chunk)[:chunk]
    found = {}
    for q in range(n_tokens):
        for k in range(q + 1):
            apart = q // chunk - k // chunk
            if apart == 0:
                found[q, k] = (keys[q] - keys[k], INTRA)
            elif apart == 1:
                found[q, k] = (successive[q % chunk] - keys[k], SUCCESSIVE)
            else:
                found[q, k] = (trained - 1 - keys[k], INTER)
    return found


@pytest.mark.parametrize(
    "n_tokens, chunk, local", [(12, 6, 4), (25, 4, 2), (25, 4, 9), (7, 1, 1), (9, 30, 2), (1, 1, 1)]
)
def test_distances_and_regions_are_those_of_the_papers_lists(n_tokens, chunk, local):
    found = index_map(n_tokens, chunk=chunk, local=local)
    for (q, k), (distance, region) in by_the_paper(n_tokens, chunk, local).items():
        assert (int(found.distance[q, k]), int(found.region[q, k])) == (distance, region), (q, k)


def test_no_distance_is_beyond_the_training_and_none_is_negative():
    found = index_map(50, chunk=6, local=3)
    seen = found.region != FUTURE
    assert found.distance[seen].min() == 0
    assert found.distance[seen].max() == 6 + 3 - 1
    assert not seen.triu(1).any()
    assert seen.tril().sum() == 50 * 51 // 2


@pytest.mark.parametrize("chunk, local", [(6, 3), (4, 4), (5, 1)])
def test_neighbours_within_the_local_window_are_at_their_true_distance(chunk, local):
    found = index_map(40, chunk=chunk, local=local)
    for q in range(40):
        for k in range(max(0, q - local), q + 1):
            assert int(found.distance[q, k]) == q - k
