"""The products of an attention that its own code writes out, heard while it runs: q·k, a softmax over keys, and ·v."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

PRODUCTS = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.baddbmm, Tensor.baddbmm}
ATTENTION = nn.functional.scaled_dot_product_attention
SOFTMAX = {torch.softmax, Tensor.softmax, nn.functional.softmax}


@dataclass(frozen=True, eq=False)
class Heard:
    """One attention: ``scores`` is what the softmax was given, ``output`` what the values were mixed to."""

    q: Tensor  # (heads, queries, d_head)
    k: Tensor  # (kv_heads, keys, d_head)
    v: Tensor  # (kv_heads, keys, d_value)
    scores: Tensor  # (heads, queries, keys)
    output: Tensor  # (heads, queries, d_value)
    places: tuple[Any, ...]  # where in the model the three calls were made

    @property
    def products(self) -> Tensor:
        """q·k ``[heads, queries, keys]``, float32."""
        return self.q.float() @ self.k.float().repeat_interleave(len(self.q) // len(self.k), dim=0).transpose(1, 2)

    def of_head(self, head: int) -> Heard:
        """What one query head has in it, as the only one."""
        own, shared = slice(head, head + 1), head // (len(self.q) // len(self.k))
        k, v = self.k[shared : shared + 1], self.v[head // (len(self.q) // len(self.v)) :][:1]
        return replace(self, q=self.q[own], k=k, v=v, scores=self.scores[own], output=self.output[own])


@dataclass(frozen=True, eq=False)
class _Softened:
    """A softmax and the product that it was made of, before the weights have met any values."""

    left: Tensor
    right: Tensor
    scores: Tensor
    weights: Tensor
    places: tuple[Any, Any]


class Products(TorchFunctionMode):
    """While it is entered, ``heard`` grows by every attention; nothing that is computed is changed.

    ``at`` is asked where in the model a call is made.
    """

    def __init__(self, at: Callable[[], Any] = lambda: None) -> None:
        super().__init__()
        self.heard: list[Heard] = []
        self.unread = False  # whether something was multiplied in a way that is not told apart
        self._at = at
        self._products: list[tuple[Tensor, Tensor, Tensor, Any]] = []
        self._softened: _Softened | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func is ATTENTION:
            self.heard.append(_whole(made, self._at(), *args, **(kwargs or {})))
        elif func is torch.einsum and (len(args) > 2 or isinstance(args[-1], list | tuple)):
            self.unread = True
        elif func in PRODUCTS:
            left, right = (kwargs["batch1"], kwargs["batch2"]) if kwargs and "batch1" in kwargs else args[-2:]
            if min(left.dim(), right.dim()) >= 3 and not self._ends(left, right, made):
                self._products.append((left, right, made, self._at()))
        elif func in SOFTMAX and args and made.dim() >= 3:
            self._soften(args[0], made)
        return made

    def _soften(self, scores: Tensor, weights: Tensor) -> None:
        """The scores are of the last product of their shape, whatever was added to it meanwhile."""
        fitting = [one for one in self._products if _many(one[2]) == _many(scores)]
        self._products.clear()
        if fitting:
            left, right, _, place = fitting[-1]
            self._softened = _Softened(left, right, scores, weights, (place, self._at()))

    def _ends(self, left: Tensor, right: Tensor, made: Tensor) -> bool:
        """Whether this is the product of the last softmax with values."""
        last = self._softened
        if last is None or _many(left) != _many(last.weights):
            return False
        weights = _by_head(last.weights)
        if not torch.equal(_by_head(left), weights.to(left.dtype)):
            return False
        self._softened = None
        q, k, v = _by_head(last.left), _by_head(last.right).transpose(1, 2), _by_head(right)
        whole = len(q) == len(weights) and all(len(q) % len(one) == 0 for one in (k, v))
        if whole:
            places = (*last.places, self._at())
            self.heard.append(Heard(q, k, v, _by_head(last.scores), _by_head(made), places))
        return whole


def _whole(
    made: Tensor,
    place: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    **_: Any,
) -> Heard:
    """What torch's own function does in one call: its scores are made again here."""
    q, k, v = (_by_head(one) for one in (query, key, value))
    heard = Heard(q, k, v, q, _by_head(made), (place,) * 3)
    scores = heard.products * (q.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        mask = _by_head(attn_mask)
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return replace(heard, scores=scores)


def _many(tensor: Tensor) -> tuple[int, torch.Size]:
    return tensor.numel(), tensor.shape[-2:]


def _by_head(tensor: Tensor) -> Tensor:
    """``[..., rows, columns]`` of one text as (heads, rows, columns)."""
    return tensor.reshape(-1, *tensor.shape[-2:])
