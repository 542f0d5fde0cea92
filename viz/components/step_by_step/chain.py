"""The matrices and steps of a chain, as the component draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import numpy as np

from viz.components.picture import OPTIONAL, TypeScript

Number: TypeAlias = float | str | None  # −∞ is None, where masked; ∞ and NaN are words
Rows: TypeAlias = Annotated[Sequence[Sequence[Number]], TypeScript("Rows")]
Lines: TypeAlias = Sequence[Sequence[Sequence[str]]]
RowsOrNone: TypeAlias = Annotated[Sequence[Sequence[Number]] | None, TypeScript("Rows"), OPTIONAL]


def rows_of(values: np.ndarray) -> list[list[Number]]:
    """Numbers as JSON has them: −∞ is None, ∞ and NaN are words."""
    return [[_one(float(value)) for value in row] for row in values]


def _one(value: float) -> Number:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return None if value < 0 else "Infinity"
    return value


@dataclass(frozen=True, eq=False)
class DrawnMatrix:
    """A matrix, of which a part may be shown."""

    name: str
    values: Rows
    rows: Sequence[str]
    columns: Sequence[str]
    shape: Sequence[int]
    """Of the whole matrix."""
    side: str = ""
    """query, key, value or "" """
    unit: str = ""
    """share: a weight, 0..1"""
    vector: str = ""
    """What a row is called where it is named by a token: q, k."""
    most: Annotated[float | None, OPTIONAL] = None
    """At the end of its colours, above 0 and below; without it its largest number is."""
    usual: RowsOrNone = None
    """Its numbers before the reader changed any; without them it cannot be edited."""


@dataclass(frozen=True)
class Light:
    """What lights up: a matrix, or a row and a column of it; "i" and "j" are those of the number pointed at."""

    matrix: str
    row: Annotated[int | str | None, OPTIONAL] = None
    column: Annotated[int | str | None, OPTIONAL] = None


@dataclass(frozen=True, eq=False)
class DrawnStep:
    """How each number of `result` comes about."""

    id: str
    kind: str
    """given, model, product, rotate, scale, mask, softmax, concat, sum, gradient, apply, add, times, told"""
    result: str
    left: Annotated[str | None, OPTIONAL] = None
    right: Annotated[str | None, OPTIONAL] = None
    turned: Annotated[bool | None, OPTIONAL] = None
    """The right one stands with its rows as columns."""
    parts: Annotated[Sequence[str] | None, OPTIONAL] = None
    causal: Annotated[bool | None, OPTIONAL] = None
    activation: Annotated[str | None, OPTIONAL] = None
    """What is applied: its name, and its function where it is ReLU, SiLU or GELU."""
    factor: Annotated[float | None, OPTIONAL] = None
    root: Annotated[int | None, OPTIONAL] = None
    softcap: Annotated[float | None, OPTIONAL] = None
    bias: RowsOrNone = None
    rest: RowsOrNone = None
    """What is not shown: of a product its sum, of a softmax e to its scores less the row's largest."""
    more: Annotated[Sequence[int] | None, OPTIONAL] = None
    """How many are not shown, of each row."""
    less: RowsOrNone = None
    """Of a norm that follows: what each sum is first lessened by, and then multiplied by."""
    times: RowsOrNone = None
    of: Annotated[str | None, OPTIONAL] = None
    """dimensions, keys, heads: what `more` counts."""
    top: Annotated[Sequence[float] | None, OPTIONAL] = None
    """Each row's largest score, which may be of a key that is not shown."""
    partner: Annotated[Sequence[int] | None, OPTIONAL] = None
    """Of a rotation, for each column: its partner; and for each row the cosine and the signed sine."""
    cos: RowsOrNone = None
    sin: RowsOrNone = None
    lines: Annotated[Lines | None, OPTIONAL] = None
    """Of a step that the host explains: for each number its lines, and what lights up."""
    lights: Annotated[Sequence[Light] | None, OPTIONAL] = None
    normed: Annotated[str | None, OPTIONAL] = None
    """A norm of this name follows the product."""
    biased: Annotated[bool | None, OPTIONAL] = None
    """A bias comes to every sum."""
    short: Annotated[str | None, OPTIONAL] = None
    """Names of its own: of the small picture, the heading, and what is said beside it."""
    title: Annotated[str | None, OPTIONAL] = None
    note: Annotated[str | None, OPTIONAL] = None


@dataclass(frozen=True)
class DrawnKnob:
    """A slider: from `least` to `most`, or over `values`."""

    name: str
    label: str
    value: float
    least: float
    most: float
    step: float
    values: Sequence[float] | None


@dataclass(frozen=True, eq=False)
class Live:
    """What follows from knobs and typed numbers, of the row that can be edited on."""

    kind: str
    """scale: a row times a factor, its softmax, its gradient; softmax: a row by every way in a dtype."""
    row: str
    """The row that can be edited: of each value of the first knob, or times it."""
    usual: Rows
    scaled: bool = True
    dtype: str = ""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a step, what is said with a {d} and a {factor} in it."""


@dataclass(frozen=True, eq=False)
class DrawnChain:
    """Matrices by their letters, and the steps. Sliders are drawn in the browser, which computes what `live` says."""

    matrices: Mapping[str, DrawnMatrix]
    steps: Sequence[DrawnStep]
    knobs: Annotated[Sequence[DrawnKnob] | None, OPTIONAL] = None
    live: Annotated[Live | None, OPTIONAL] = None


@dataclass(frozen=True)
class StepSettings:
    """Of small numbers; a model's chain has been computed with its own."""

    heads: int = 1
    head: int = 0
    causal: bool = True
    scaled: bool = True
    kv_heads: Annotated[int | None, OPTIONAL] = None
    """Key/value heads; without it every head has its own."""
    activation: Annotated[str | None, OPTIONAL] = None
    """Of a feed-forward part, which is then computed."""
    gated: Annotated[bool | None, OPTIONAL] = None
