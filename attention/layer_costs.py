"""Self-attention beside a recurrent layer and a convolution: work, sequential steps, and how far news travels.

(Vaswani et al. 2017, table 1, arXiv:1706.03762; there as orders of growth, here as counts.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class LayerType:
    """``work`` are multiply-adds of a layer over n tokens of d numbers, ``sequential`` steps that wait for one another.

    ``path`` is how many steps lie between the two ends of a text, by formula; ``reads`` the tokens that one of n hears
    of in one step. ``orders`` are the table's own entries.
    """

    name: str
    label: str
    work: Callable[[int, int], int]
    sequential: Callable[[int], int]
    path: Callable[[int], int]
    reads: Callable[[int, int, int], list[int]]  # token, n, step: what it hears of
    orders: tuple[str, str, str]


KERNEL = 3  # tokens that a convolution sees at once
NEAR = 8  # tokens that restricted self-attention sees on either side


def _attention(n: int, d: int) -> int:
    return 2 * n * n * d


def _pairs_near(n: int) -> int:
    """How many pairs of n tokens are no farther apart than ``NEAR``: fewer of those at the two ends."""
    far = min(NEAR, n - 1)
    return n + far * (2 * n - far - 1)


def _dilated(token: int, n: int, step: int) -> list[int]:
    """Of the tokens before, as WaveNet's: farther apart with every layer (van den Oord et al. 2016)."""
    return [token - back * KERNEL**step for back in range(KERNEL) if token >= back * KERNEL**step]


def _dilated_path(n: int) -> int:
    """Layers until the last of n tokens has heard of the first: each makes what is heard k times as long."""
    layers = 0
    while KERNEL**layers < n:
        layers += 1
    return layers


LAYERS = (
    LayerType(
        "attention", N_("self-attention"), _attention, lambda n: 1, lambda n: min(1, n - 1),
        lambda token, n, step: list(range(n)), ("O(n² · d)", "O(1)", "O(1)"),
    ),
    LayerType(
        "recurrent", N_("recurrent net"), lambda n, d: 2 * n * d * d, lambda n: n, lambda n: n - 1,
        lambda token, n, step: [other for other in (token - 1, token) if other >= 0], ("O(n · d²)", "O(n)", "O(n)"),
    ),
    LayerType(
        "convolution", N_("convolution, dilated"), lambda n, d: KERNEL * n * d * d, lambda n: 1,
        _dilated_path, _dilated, ("O(k · n · d²)", "O(1)", "O(logₖ n)"),
    ),
    LayerType(
        "restricted", N_("self-attention in a window"), lambda n, d: 2 * _pairs_near(n) * d, lambda n: 1,
        lambda n: math.ceil((n - 1) / NEAR),
        lambda token, n, step: list(range(max(0, token - NEAR), min(n, token + NEAR + 1))),
        ("O(r · n · d)", "O(1)", "O(n / r)"),
    ),
)  # fmt: skip  # one layer a paragraph


def counted_path(layer: LayerType, n: int) -> int:
    """The same, counted: what the last token has heard of is followed step by step until the first is in it."""
    heard, step = {n - 1}, 0
    while 0 not in heard:
        heard = {other for token in heard for other in layer.reads(token, n, step)}
        step += 1
    return step
