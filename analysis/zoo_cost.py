"""The cost of attention on this machine: seconds and bytes of one head at any length, and break-even points."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention.zoo.head import softmax_rows
from attention.zoo.long_head import LongHead
from attention.zoo.variant import Variant

REPEATS = 3  # the fastest run counts, since the others were delayed
LONG = 0.3  # seconds after which a measurement is not repeated

Attention = Callable[[LongHead], Tensor]


@dataclass(frozen=True)
class Measured:
    """One head of ``name`` over this many tokens; ``n_bytes``: its tensors' peak memory besides q, k, v.

    ``seconds`` are the fastest run's, ``took`` those of all runs together.
    """

    name: str
    n_tokens: int
    seconds: float
    n_bytes: int
    took: float


def stored(head: LongHead) -> Tensor:
    """Softmax attention with its whole map in memory."""
    return softmax_rows(head.scores) @ head.v


def by_tiles(head: LongHead) -> Tensor:
    """Softmax attention by torch's own kernel, which stores no map."""
    q, k, v = (one[None, None] for one in (head.q, head.k, head.v))
    return scaled_dot_product_attention(q, k, v, is_causal=head.causal)[0, 0]


def of_variant(variant: Variant, values: Mapping[str, int]) -> Attention:
    """The variant's output as the zoo computes it; if that uses its map, O(tokens²), the map is made.

    A parameter larger than the number of tokens is limited to it.
    """

    def attention(head: LongHead) -> Tensor:
        numbers = _numbers(variant, values, head.n_tokens)
        return variant.weights(head, **numbers) @ head.v if variant.output is None else variant.output(head, **numbers)

    return attention


def work_of(variant: Variant, values: Mapping[str, int], d_head: int) -> Callable[[int], int]:
    """The variant's multiply-adds by its formula, as a function of the number of tokens."""
    return lambda n_tokens: variant.multiply_adds(n_tokens, d_head, **_numbers(variant, values, n_tokens))


def memory_of(variant: Variant, values: Mapping[str, int], d_head: int) -> Callable[[int], int]:
    """Its peak memory in numbers by its formula, as a function of the number of tokens; d_value = d_head."""
    return lambda n_tokens: variant.memory.of(n_tokens, d_head, d_head, **_numbers(variant, values, n_tokens))


def kept_of(variant: Variant, values: Mapping[str, int], d_head: int, d_value: int) -> Callable[[int], int]:
    """A head's state in numbers by its formula, as a function of the number of tokens.

    Raises ValueError for a variant that cannot read a text token by token.
    """
    if variant.recurrent is None:
        raise ValueError(f"{variant.name} cannot read a text a token at a time")
    state = variant.recurrent.state
    return lambda n_tokens: state.of(n_tokens, d_head, d_value, **_numbers(variant, values, n_tokens))


def _numbers(variant: Variant, values: Mapping[str, int], n_tokens: int) -> dict[str, Any]:
    most = {one.name: one.most_of(n_tokens) for one in variant.parameters}
    return variant.numbers({name: min(value, most[name]) for name, value in values.items()}, n_tokens)


def measure(name: str, attention: Attention, n_tokens: int, d_head: int, *, causal: bool) -> Measured:
    """Normal numbers in float32 on the CPU: a first run counts bytes, further runs the seconds."""
    chance = torch.Generator().manual_seed(n_tokens)
    q, k, v, q_beside, k_beside = (torch.randn(n_tokens, d_head, generator=chance) for _ in range(5))
    head = LongHead(q, k, v, causal=causal, second=(q_beside, k_beside))
    begun = time.perf_counter()
    with torch.inference_mode():
        with LiveBytes() as counted:
            attention(head)
        seconds = math.inf
        for _ in range(REPEATS):
            start = time.perf_counter()
            attention(head)
            seconds = min(seconds, time.perf_counter() - start)
            if seconds > LONG:
                break
    return Measured(name, n_tokens, seconds, counted.most, time.perf_counter() - begun)


class LiveBytes(TorchDispatchMode):
    """Bytes of the tensors created inside that still exist: ``now``, and their peak, ``most``.

    Temporary memory within an operation is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {id(one.untyped_storage()) for one in _tensors((args, kwargs or {}))}
        found = func(*args, **(kwargs or {}))
        for one in _tensors(found):
            storage = one.untyped_storage()
            if id(storage) not in given and storage not in self._known:
                self._known.add(storage)
                self.now += storage.nbytes()
                weakref.finalize(storage, self._gone, storage.nbytes())
        self.most = max(self.most, self.now)
        return found

    def _gone(self, n_bytes: int) -> None:
        self.now -= n_bytes


def _tensors(tree: Any) -> Iterable[Tensor]:
    return (one for one in tree_leaves(tree) if isinstance(one, Tensor))


def crossing(lengths: Sequence[int], usual: Sequence[float], rival: Sequence[float]) -> float | None:
    """The length from which the variant stays below, by linear interpolation of logarithms; None if it does not.

    The first length, if it is below from there on.
    """
    below = [a < b for a, b in zip(rival, usual, strict=True)]
    if not below or not below[-1]:
        return None
    last = max((i for i, one in enumerate(below) if not one), default=-1)
    if last < 0:
        return float(lengths[0])
    gaps = [math.log(rival[i] / usual[i]) for i in (last, last + 1)]
    part = gaps[0] / (gaps[0] - gaps[1])
    return lengths[last] * (lengths[last + 1] / lengths[last]) ** part


def crossing_by_formula(usual: Callable[[int], float], rival: Callable[[int], float], most: int) -> int | None:
    """The length from which the variant is cheaper, by bisection up to ``most``; None if there is none."""
    if rival(most) >= usual(most):
        return None
    low, high = 0, most
    while high // 2 >= 1 and rival(high // 2) < usual(high // 2):
        high //= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rival(middle) < usual(middle) else (middle, high)
    return high
