"""One number of a head as a sum: its largest terms, the rest as one number, and the bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.projection_questions import Projected

TERMS = 5  # of the d_model products that are shown


@dataclass(frozen=True)
class ProductTerm:
    """``read`` times ``weight``, for this dimension of the stream."""

    dim: int
    read: float
    weight: float


@dataclass(frozen=True)
class Spelled:
    """``total`` is exactly the sum of the terms, of the ``rest`` of ``more`` products, and of the bias.

    If a norm follows, ``less`` is subtracted from that sum, and the result is multiplied by ``factor``.
    """

    terms: tuple[ProductTerm, ...]
    rest: float
    more: int
    bias: float
    less: float
    factor: float
    total: float


def spelled(projected: Projected, row: int, column: int) -> Spelled:
    """The number in this row and column; float64 sums of the model's own numbers."""
    read, weight = projected.read[row].double().numpy(), projected.matrix[:, column].double().numpy()
    products = read * weight
    order = np.argsort(-np.abs(products), kind="stable")[:TERMS]
    terms = tuple(ProductTerm(int(dim), float(read[dim]), float(weight[dim])) for dim in order)
    rest = float(np.delete(products, order).sum())
    bias = float(projected.bias[column])
    whole = sum(term.read * term.weight for term in terms) + rest + bias
    less, factor = float(projected.less[row, column]), float(projected.factor[row, column])
    return Spelled(terms, rest, len(products) - len(order), bias, less, factor, (whole - less) * factor)


def reads_stream(projected: Projected, stream: Float[Tensor, "positions d_stream"]) -> bool:
    """True if attention's input is the stream itself, without a norm before it in this layer."""
    read = projected.read
    return read.shape == stream.shape and torch.equal(read.cpu().float(), stream.cpu().float())


def largest_dims(projected: Projected, columns: list[int], most: int) -> list[int]:
    """The dimensions of the stream whose products with these columns are largest over all rows, ascending."""
    sizes = projected.read.abs().double().sum(0) * projected.matrix[:, columns].abs().double().sum(1)
    found: Float[np.ndarray, "most"] = np.argsort(-sizes.numpy(), kind="stable")[:most]
    return sorted(int(dim) for dim in found)
