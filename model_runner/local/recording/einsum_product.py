"""Rewrites an einsum of two tensors as the equivalent matrix product, if there is one."""

from __future__ import annotations

from typing import Any

from torch import Tensor

Order = tuple[int, ...] | None  # of a tensor's axes; None: unchanged


def einsum_operands(args: tuple[Any, ...]) -> tuple[str, Tensor, Tensor] | None:
    """The equation and the two operands of a call of ``torch.einsum``; None unless there are exactly two."""
    equation, *given = args
    operands = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
    return (equation, *operands) if isinstance(equation, str) and len(operands) == 2 else None


def einsum_orders(equation: str) -> tuple[Order, Order, Order] | None:
    """The axis orders in which ``left @ right = made``: rows and columns last, after the axes that all three share.

    None if it is not such a product, in which one axis is summed, each operand has one of its own, and others are
    shared.
    """
    sides, _, out = equation.replace(" ", "").partition("->")
    a, _, b = sides.partition(",")
    shared = [letter for letter in out if letter in a and letter in b]
    summed = [letter for letter in a if letter in b and letter not in out]
    rows, columns = ([letter for letter in one if letter in out and letter not in shared] for one in (a, b))
    if "." in equation or not shared or any(len(one) != 1 for one in (summed, rows, columns)):
        return None
    return (
        tuple(a.index(letter) for letter in (*shared, *rows, *summed)),
        tuple(b.index(letter) for letter in (*shared, *summed, *columns)),
        tuple(out.index(letter) for letter in (*shared, *rows, *columns)),
    )
