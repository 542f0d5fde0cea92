"""Traces the products of attention written out in a model's own code: q·k, a softmax over keys, and ·v."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model_runner.local.recording.einsum_product import Order, einsum_operands, einsum_orders
from model_runner.local.recording.op_trace import ADDITIONS, DIVISIONS, OpTrace, Origin

PRODUCTS = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.baddbmm, Tensor.baddbmm}
CHOICES = {torch.gather, Tensor.gather}
ATTENTION = nn.functional.scaled_dot_product_attention
SOFTMAX = {torch.softmax, Tensor.softmax, nn.functional.softmax}


@dataclass(frozen=True, eq=False)
class TracedTerm:
    """A further product that adds one number to each cell of the scores: ``left[h, i] · table[h, index[i, j]]``."""

    left: Tensor  # (heads, tokens, d_head)
    table: Tensor  # (heads, vectors, d_head)
    index: Tensor | None  # (heads, tokens, others); None: the vectors are in the order of the distances
    origin: Origin  # of ``left``


@dataclass(frozen=True, eq=False)
class TracedAttention:
    """One attention: ``scores`` are the input of the softmax, ``output`` is the weighted sum of the values."""

    q: Tensor  # (heads, queries, d_head)
    k: Tensor  # (kv_heads, keys, d_head)
    v: Tensor  # (kv_heads, keys, d_value)
    scores: Tensor  # (heads, queries, keys)
    output: Tensor  # (heads, queries, d_value)
    places: tuple[Any, ...]  # where in the model the three calls were made
    terms: tuple[TracedTerm, ...] = ()
    origins: tuple[Origin, ...] = ()  # for q and k

    @property
    def products(self) -> Tensor:
        """q·k ``[heads, queries, keys]``, float32."""
        return self.q.float() @ self.k.float().repeat_interleave(len(self.q) // len(self.k), dim=0).transpose(1, 2)

    def of_head(self, head: int) -> TracedAttention:
        """The part of one query head, as if it were the only one."""
        own, shared = slice(head, head + 1), head // (len(self.q) // len(self.k))
        k, v = self.k[shared : shared + 1], self.v[head // (len(self.q) // len(self.v)) :][:1]
        return replace(self, q=self.q[own], k=k, v=v, scores=self.scores[own], output=self.output[own])


@dataclass(frozen=True, eq=False)
class _Product:
    """A product ``left @ right = made``, with axes in these orders."""

    left: Tensor
    right: Tensor
    made: Tensor
    orders: tuple[Order, Order, Order]
    place: Any

    def by_head(self, side: int, given: Tensor) -> Tensor:
        """A tensor with the axes of ``left``, ``right`` or ``made`` (0, 1, 2) as (heads, rows, columns)."""
        order = self.orders[side]
        return _by_head(given if order is None else given.permute(order))

    @property
    def shape(self) -> tuple[int, torch.Size]:
        order = self.orders[2]
        return _many(self.made if order is None else self.made.permute(order))


@dataclass(frozen=True, eq=False)
class _Softened:
    """A softmax and the products that went into it, before the weights are multiplied by values."""

    product: _Product
    scores: Tensor
    weights: Tensor
    places: tuple[Any, Any]
    terms: tuple[TracedTerm, ...]
    origins: tuple[Origin, ...]


class MatmulTracer(TorchFunctionMode):
    """While entered, adds every attention to ``traced``, without changing what is computed.

    ``at`` returns where in the model a call is made. With ``apart``, outputs are kept as the product made them, for
    code that adds to them in place.
    """

    def __init__(self, at: Callable[[], Any] = lambda: None, *, apart: bool = False) -> None:
        super().__init__()
        self._apart = apart
        self.traced: list[TracedAttention] = []
        self.unread = False  # whether there was a multiplication that was not understood
        self.projected: list[tuple[Any, Tensor]] = []  # where, and what einsums made of tokens and a matrix
        self._at = at
        self._products: list[_Product] = []
        self._chosen: list[TracedTerm] = []
        self._steps = OpTrace()
        self._softened: _Softened | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func is ATTENTION:
            self.traced.append(_whole(made, self._at(), *args, **(kwargs or {})))
        elif func is torch.einsum:
            self._sum(made, args)
        elif func in PRODUCTS:
            left, right = (kwargs["batch1"], kwargs["batch2"]) if kwargs and "batch1" in kwargs else args[-2:]
            if min(left.dim(), right.dim()) >= 3:
                self._multiply(_Product(left, right, made, (None, None, None), self._at()))
        elif func in CHOICES:
            self._choose(*args, **(kwargs or {}))
        elif (func in DIVISIONS or func in ADDITIONS) and len(args) == 2 and self._may_be_step(made):
            self._steps.observe(func, made, *args)
        elif func in SOFTMAX and args and made.dim() >= 3:
            self._soften(args[0], made)
        return made

    def _may_be_step(self, made: Any) -> bool:
        """Whether it may be an intermediate step: it has as many numbers as a factor.

        Scores do not, and are not kept twice.
        """
        known = [side.numel() for one in self._products for side in (one.left, one.right)]
        return torch.is_tensor(made) and (not known or made.numel() in known)

    def _sum(self, made: Tensor, args: tuple[Any, ...]) -> None:
        given = einsum_operands(args)
        if given is None:
            return
        equation, left, right = given
        orders = einsum_orders(equation)
        if orders is not None:
            self.unread |= not self._multiply(_Product(left, right, made, orders, self._at()))
        else:
            self.unread = True
            self.projected.append((self._at(), made))

    def _multiply(self, product: _Product) -> bool:
        """Whether the product ends an attention; otherwise it may begin one."""
        ends = self._ends(product)
        if not ends:
            self._products.append(product)
        return ends

    def _choose(self, given: Tensor, dim: int, index: Tensor, **_: Any) -> None:
        """Note a product from whose last axis something is gathered: its vectors are of distances, so it holds no
        scores.
        """
        product = next((one for one in self._products if one.made is given), None)
        if product is not None and dim in (-1, given.dim() - 1):
            self._products = [one for one in self._products if one is not product]
            self._chosen.append(self._term(product, index))

    def _term(self, product: _Product, index: Tensor | None) -> TracedTerm:
        left, right = product.by_head(0, product.left), product.by_head(1, product.right)
        return TracedTerm(left, right.transpose(1, 2), index, self._origin(product, 0))

    def _origin(self, product: _Product, side: int) -> Origin:
        given = (product.left, product.right)[side]
        turned = (lambda x: product.by_head(1, x).transpose(1, 2)) if side else (lambda x: product.by_head(0, x))
        return self._steps.origin(given, turned)

    def _soften(self, scores: Tensor, weights: Tensor) -> None:
        """Match a softmax to the last product of its shape, whatever was added to it meanwhile.

        Another product of the same queries with more distance vectors than there are keys is a term.
        """
        fitting = [one for one in self._products if one.shape == _many(scores)]
        if fitting:
            product = fitting[-1]
            origins = (self._origin(product, 0), self._origin(product, 1))
            rows, columns = scores.shape[-2:]
            others = [one for one in self._products if one is not product and one.shape[1][0] == rows]
            shifted = [one for one in others if one.shape[1][1] > columns]
            along = [self._term(one, None) for one in shifted]
            along = [one for one in along if _same(one.origin.base, origins[0].base)]
            terms, places = (*self._chosen, *along), (product.place, self._at())
            self._softened = _Softened(product, scores, weights, places, terms, origins)
        self._products.clear()
        self._chosen.clear()
        self._steps.clear()

    def _ends(self, product: _Product) -> bool:
        """Whether this is the product of the last softmax with values."""
        last = self._softened
        if last is None or product.left.numel() != last.weights.numel():
            return False
        left, weights = product.by_head(0, product.left), _by_head(last.weights)
        if left.shape != weights.shape or not torch.equal(left, weights.to(left.dtype)):
            return False
        self._softened = None
        scored, v = last.product, product.by_head(1, product.right)
        q, k = scored.by_head(0, scored.left), scored.by_head(1, scored.right).transpose(1, 2)
        whole = len(q) == len(weights) and all(len(q) % len(one) == 0 for one in (k, v))
        if whole:
            places, output = (*last.places, product.place), product.by_head(2, product.made)
            output = output.clone() if self._apart else output
            self.traced.append(
                TracedAttention(q, k, v, _by_head(last.scores), output, places, last.terms, last.origins)
            )
        return whole


def _whole(  # noqa: PLR0913  the signature of torch's scaled_dot_product_attention
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
) -> TracedAttention:
    """Trace a call of torch's own function, whose scores are recomputed here."""
    q, k, v = (_by_head(one) for one in (query, key, value))
    traced = TracedAttention(q, k, v, q, _by_head(made), (place,) * 3)
    scores = traced.products * (q.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        mask = _by_head(attn_mask)
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return replace(traced, scores=scores)


def _many(tensor: Tensor) -> tuple[int, torch.Size]:
    return tensor.numel(), tensor.shape[-2:]


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)


def _by_head(tensor: Tensor) -> Tensor:
    """Reshape ``[..., rows, columns]`` of one text to (heads, rows, columns)."""
    return tensor.reshape(-1, *tensor.shape[-2:])
