"""The cost of one token's probability over a vocabulary: a full softmax, or a path through a tree."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

VOCABULARIES = (4_096, 50_257, 151_936)
CUTOFFS = (2_000, 10_000)  # of the adaptive softmax: frequent, less frequent, rare
DIVISOR = 4  # each cluster of rarer tokens has vectors a quarter as long as the previous one's


def balanced_depths(n: int) -> list[int]:
    """The number of decisions for each of n leaves of a balanced binary tree (Morin & Bengio 2005).

    Counted by traversing the whole tree.
    """
    depths: list[int] = []
    waiting = [(n, 0)]
    while waiting:
        leaves, depth = waiting.pop()
        if leaves == 1:
            depths.append(depth)
        else:
            waiting += [(leaves // 2, depth + 1), (leaves - leaves // 2, depth + 1)]
    return depths


def mean_depth(n: int) -> float:
    """The mean of these depths by formula: with L = ⌊log₂ n⌋, L + 2 (n − 2^L) / n."""
    level = n.bit_length() - 1
    return level + 2 * (n - 2**level) / n


def full_cost(n: int, d: int) -> int:
    """Multiply-adds of a softmax over all tokens: a product of d numbers for each."""
    return n * d


def tree_cost(n: int, d: int) -> float:
    """Multiply-adds of a token's path through the balanced tree: a product per decision; mean over tokens."""
    return mean_depth(n) * d


@functools.lru_cache(maxsize=4)
def zipf(n: int) -> tuple[float, ...]:
    """Frequencies of n tokens by rank, ∝ 1 / rank, roughly those of words."""
    total = sum(1 / rank for rank in range(1, n + 1))
    return tuple(1 / rank / total for rank in range(1, n + 1))


def adaptive_parts(n: int, d: int, cutoffs: Sequence[int] = CUTOFFS) -> tuple[int, list[int]]:
    """Multiply-adds of the head and of each cluster of an adaptive softmax (Grave et al. 2017, arXiv:1609.04309).

    As in torch's AdaptiveLogSoftmaxWithLoss, each cluster first projects its vectors to a size ``DIVISOR`` times
    smaller.
    """
    edges = [cutoff for cutoff in cutoffs if cutoff < n] + [n]
    clusters: list[int] = []
    for number, (low, high) in enumerate(itertools.pairwise(edges), 1):
        short = d // DIVISOR**number
        clusters.append(d * short + short * (high - low))
    return (edges[0] + len(clusters)) * d, clusters


def adaptive_cost(n: int, d: int, cutoffs: Sequence[int] = CUTOFFS) -> float:
    """The mean over tokens by frequency: always the head, and a cluster if the token is in it."""
    head, clusters = adaptive_parts(n, d, cutoffs)
    edges = [cutoff for cutoff in cutoffs if cutoff < n] + [n]
    shares = zipf(n)
    rare = [math.fsum(shares[low:high]) for low, high in itertools.pairwise(edges)]
    return head + math.fsum(share * cost for share, cost in zip(rare, clusters, strict=True))


# -- by counting ------------------------------------------------------------------------------------------------------


def counted_full(n: int, d: int) -> int:
    """Counted for torch's linear layer, with one vector."""
    return _products(nn.Linear(d, n, bias=False, device="meta"), d=d)


def counted_tree(n: int, d: int) -> float:
    """The mean over every leaf of the tree, each reached from the root."""
    return sum(balanced_depths(n)) * d / n


def counted_adaptive(n: int, d: int, cutoffs: Sequence[int] = CUTOFFS) -> float:
    """Counted for torch's AdaptiveLogSoftmaxWithLoss: the head and each token's cluster, weighted by frequency.

    Its layers are on the meta device, so that they use no memory.
    """
    edges = [cutoff for cutoff in cutoffs if cutoff < n]
    if not edges:
        return float(counted_full(n, d))
    with torch.device("meta"):
        module = nn.AdaptiveLogSoftmaxWithLoss(d, n, edges, div_value=DIVISOR)
    head = _products(module.head, d=d)
    costs, shares = [head, *(head + _products(tail, d=d) for tail in module.tail)], zipf(n)
    groups = itertools.pairwise([0, *edges, n])
    return math.fsum(cost * math.fsum(shares[low:high]) for cost, (low, high) in zip(costs, groups, strict=True))


def _products(module: nn.Module, *, d: int) -> int:
    """Multiply-adds of its linear layers for one vector of dimension d: inputs × outputs of each.

    On the meta device, where a layer computes shapes but no numbers.
    """
    made: list[int] = []

    def count(layer: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        made.append(given[0].numel() * output.numel())

    hooks = [one.register_forward_hook(count) for one in module.modules() if isinstance(one, nn.Linear)]
    with torch.no_grad():
        module(torch.zeros(d, device="meta"))
    for hook in hooks:
        hook.remove()
    return sum(made)
