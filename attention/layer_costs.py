"""Self-attention, recurrent and convolutional layers: work, sequential steps, and how far information travels.

(Vaswani et al. 2017, table 1, arXiv:1706.03762; there as orders of growth, here as counts.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class LayerType:
    """``work``: multiply-adds of a layer over n tokens of dimension d; ``sequential``: steps that depend on one
    another.

    ``path`` is the number of steps between the two ends of a text, by formula; ``reads`` gives the tokens from which
    one of n receives information in one step. ``orders`` are the table's own entries.
    """

    name: str
    label: str
    work: Callable[[int, int], int]
    sequential: Callable[[int], int]
    path: Callable[[int], int]
    reads: Callable[[int, int, int], list[int]]  # token, n, step → tokens that it receives information from
    orders: tuple[str, str, str]


KERNEL = 3  # tokens in a convolution's kernel
NEAR = 8  # tokens on either side in restricted self-attention


def _attention(n: int, d: int) -> int:
    return 2 * n * n * d


def _pairs_near(n: int) -> int:
    """Number of pairs of n tokens at most ``NEAR`` apart; there are fewer at the two ends."""
    far = min(NEAR, n - 1)
    return n + far * (2 * n - far - 1)


def _dilated(token: int, n: int, step: int) -> list[int]:
    """Earlier tokens as in WaveNet: farther apart with every layer (van den Oord et al. 2016)."""
    return [token - back * KERNEL**step for back in range(KERNEL) if token >= back * KERNEL**step]


def _dilated_path(n: int) -> int:
    """Layers until information from the first of n tokens reaches the last: each multiplies the range by k."""
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
    """The same by counting: follow what has reached the last token step by step until the first is included."""
    heard, step = {n - 1}, 0
    while 0 not in heard:
        heard = {other for token in heard for other in layer.reads(token, n, step)}
        step += 1
    return step
