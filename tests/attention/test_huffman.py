"""The Huffman tree: its paths give the probabilities back, and no other tree needs fewer decisions."""

from __future__ import annotations

import itertools
import math

import pytest

from attention.huffman import huffman_depths, huffman_path, huffman_tree

SHARES = [
    [0.4, 0.3, 0.2, 0.1],
    [0.2] * 5,
    [0.9, 0.05, 0.03, 0.015, 0.005],
    [1e-12, 0.5, 0.25, 0.25 - 1e-12],
]


def path(shares, token):
    found = huffman_path(huffman_tree(shares), token)
    assert found is not None
    return found


@pytest.mark.parametrize("shares", SHARES)
def test_the_sigmoids_of_a_path_multiply_to_the_share_and_all_paths_sum_to_one(shares):
    products = [math.prod(one.probability for one in path(shares, token)) for token in range(len(shares))]
    assert products == pytest.approx(shares, rel=1e-9)
    assert math.fsum(products) == pytest.approx(1)
    for token in range(len(shares)):
        for one in path(shares, token):
            assert one.probability == pytest.approx(1 / (1 + math.exp(-one.score if one.left else one.score)))


def least(shares):
    """The fewest decisions on average, by trying every way to join two again and again."""
    if len(shares) == 1:
        return 0.0
    return min(
        a + b + least([*(one for k, one in enumerate(shares) if k not in (i, j)), a + b])
        for (i, a), (j, b) in itertools.combinations(enumerate(shares), 2)
    )


@pytest.mark.parametrize("shares", SHARES)
def test_no_tree_needs_fewer_decisions_on_average(shares):
    mean = sum(share * len(path(shares, token)) for token, share in enumerate(shares))
    assert mean == pytest.approx(least(shares))
    entropy = -sum(share * math.log2(share) for share in shares)
    assert entropy - 1e-9 <= mean < entropy + 1


def test_a_token_without_a_share_is_not_in_the_tree_and_a_single_one_needs_no_decision():
    assert huffman_path(huffman_tree([0.5, 0.0, 0.5]), 1) is None
    assert path([0.0, 1.0], 1) == ()
    with pytest.raises(ValueError, match="no token"):
        huffman_tree([0.0, 0.0])


def test_depths_are_the_lengths_of_the_paths():
    counts = [7.0, 1.0, 3.0, 3.0, 9.0, 1.0, 2.0]
    tree = huffman_tree(counts)
    assert huffman_depths(tree) == {token: len(huffman_path(tree, token) or ()) for token in range(len(counts))}
    assert huffman_depths(huffman_tree([4.0])) == {0: 0}
