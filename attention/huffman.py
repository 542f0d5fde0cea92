"""A Huffman tree over tokens: frequent tokens need few decisions, and a path's sigmoids multiply to a probability.

(Huffman 1952; for softmax Mikolov et al. 2013, section 2.1, arXiv:1310.4546.)
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class HuffmanNode:
    """``share`` is the sum over the leaves below; a leaf has its ``token``, a fork its left and right child."""

    share: float
    token: int | None = None
    left: HuffmanNode | None = None
    right: HuffmanNode | None = None

    @property
    def score(self) -> float:
        """For a fork: the sigmoid's argument; σ(score) is the probability of the left child."""
        if self.left is None or self.right is None:
            raise ValueError("a leaf decides nothing")
        return math.log(self.left.share) - math.log(self.right.share)


@dataclass(frozen=True)
class Decision:
    """One fork of a path: its score, whether the path goes left, and the probability of that, σ(±score)."""

    score: float
    left: bool

    @property
    def probability(self) -> float:
        return 1 / (1 + math.exp(-self.score if self.left else self.score))


def huffman_tree(shares: Sequence[float]) -> HuffmanNode:
    """Build the tree of tokens with a positive share by repeatedly joining the two rarest.

    ValueError if there are none.
    """
    number = itertools.count()
    waiting = [(share, next(number), HuffmanNode(share, token)) for token, share in enumerate(shares) if share > 0]
    if not waiting:
        raise ValueError("no token has a share")
    heapq.heapify(waiting)
    while len(waiting) > 1:
        (_, _, right), (_, _, left) = heapq.heappop(waiting), heapq.heappop(waiting)
        joined = HuffmanNode(left.share + right.share, None, left, right)
        heapq.heappush(waiting, (joined.share, next(number), joined))
    return waiting[0][2]


def huffman_path(tree: HuffmanNode, token: int) -> tuple[Decision, ...] | None:
    """The decisions that lead to a token; None if it is not in the tree."""
    if tree.left is None or tree.right is None:
        return () if tree.token == token else None
    for side, below in ((True, tree.left), (False, tree.right)):
        rest = huffman_path(below, token)
        if rest is not None:
            return (Decision(tree.score, side), *rest)
    return None


def huffman_depths(tree: HuffmanNode) -> dict[int, int]:
    """The number of decisions for every token in the tree. O(tokens) time."""
    found: dict[int, int] = {}
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node.token is not None:
            found[node.token] = depth
        waiting += [(below, depth + 1) for below in (node.left, node.right) if below is not None]
    return found
