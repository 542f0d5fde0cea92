"""The matrices and steps of a chain, as the component draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import numpy as np

from viz.components.picture import OPTIONAL, TypeScript

Number: TypeAlias = float | str | None  # −∞ (masked) is None; ∞ and NaN are strings
Rows: TypeAlias = Annotated[Sequence[Sequence[Number]], TypeScript("Rows")]
Lines: TypeAlias = Sequence[Sequence[Sequence[str]]]
RowsOrNone: TypeAlias = Annotated[Sequence[Sequence[Number]] | None, TypeScript("Rows"), OPTIONAL]


def rows_of(values: np.ndarray) -> list[list[Number]]:
    """Numbers as JSON: −∞ is None, ∞ and NaN are strings."""
    return [[_one(float(value)) for value in row] for row in values]


def _one(value: float) -> Number:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return None if value < 0 else "Infinity"
    return value


@dataclass(frozen=True, eq=False)
class DrawnMatrix:
    """A matrix, which may be shown in part."""

    name: str
    values: Rows
    rows: Sequence[str]
    columns: Sequence[str]
    shape: Sequence[int]
    """Shape of the whole matrix."""
    side: str = ""
    """query, key, value or """ ""
    unit: str = ""
    """share: a weight in 0..1"""
    vector: str = ""
    """The name of a row that is identified by a token: q, k."""
    most: Annotated[float | None, OPTIONAL] = None
    """Ends of its colour scale, above and below 0; by default its maximum."""
    usual: RowsOrNone = None
    """Its numbers before any edits; without them it cannot be edited."""


@dataclass(frozen=True)
class Light:
    """What is highlighted: a matrix, or a row and a column of it; "i" and "j" are those of the number pointed at."""

    matrix: str
    row: Annotated[int | str | None, OPTIONAL] = None
    column: Annotated[int | str | None, OPTIONAL] = None


@dataclass(frozen=True, eq=False)
class DrawnStep:
    """How each number of `result` is computed."""

    id: str
    kind: str
    """given, model, product, rotate, scale, mask, softmax, concat, sum, gradient, apply, add, times, told"""
    result: str
    left: Annotated[str | None, OPTIONAL] = None
    right: Annotated[str | None, OPTIONAL] = None
    turned: Annotated[bool | None, OPTIONAL] = None
    """The right factor is stored transposed."""
    parts: Annotated[Sequence[str] | None, OPTIONAL] = None
    causal: Annotated[bool | None, OPTIONAL] = None
    activation: Annotated[str | None, OPTIONAL] = None
    """The applied function: its name, and the function if it is ReLU, SiLU or GELU."""
    factor: Annotated[float | None, OPTIONAL] = None
    root: Annotated[int | None, OPTIONAL] = None
    softcap: Annotated[float | None, OPTIONAL] = None
    bias: RowsOrNone = None
    rest: RowsOrNone = None
    """What is not shown: a product's partial sum, or a softmax's sum of exponentials relative to the row's maximum."""
    more: Annotated[Sequence[int] | None, OPTIONAL] = None
    """How many are not shown, in each row."""
    less: RowsOrNone = None
    """For a following norm: what is first subtracted from each sum, and its factor."""
    times: RowsOrNone = None
    of: Annotated[str | None, OPTIONAL] = None
    """dimensions, keys, heads: what `more` counts."""
    top: Annotated[Sequence[float] | None, OPTIONAL] = None
    """Each row's largest score, possibly of a key that is not shown."""
    partner: Annotated[Sequence[int] | None, OPTIONAL] = None
    """For a rotation: each column's partner, and each row's cosine and signed sine."""
    cos: RowsOrNone = None
    sin: RowsOrNone = None
    lines: Annotated[Lines | None, OPTIONAL] = None
    """For a step explained by the host: for each number its lines, and what is highlighted."""
    lights: Annotated[Sequence[Light] | None, OPTIONAL] = None
    normed: Annotated[str | None, OPTIONAL] = None
    """Name of a norm that follows the product."""
    biased: Annotated[bool | None, OPTIONAL] = None
    """A bias is added to every sum."""
    short: Annotated[str | None, OPTIONAL] = None
    """Its own names: of the small picture, the heading, and the text beside it."""
    title: Annotated[str | None, OPTIONAL] = None
    note: Annotated[str | None, OPTIONAL] = None


@dataclass(frozen=True)
class DrawnKnob:
    """A slider from `least` to `most`, or over `values`."""

    name: str
    label: str
    value: float
    least: float
    most: float
    step: float
    values: Sequence[float] | None


@dataclass(frozen=True, eq=False)
class Live:
    """What depends on knobs and typed numbers, computed from the editable row."""

    kind: str
    """scale: a row times a factor, its softmax, its gradient; softmax: a row by every method in a dtype."""
    row: str
    """The editable row: for each value of the first knob, or multiplied by it."""
    usual: Rows
    scaled: bool = True
    dtype: str = ""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """A step's text with {d} and {factor} in it."""


@dataclass(frozen=True, eq=False)
class DrawnChain:
    """Matrices by their letters, and the steps. Sliders are drawn in the browser, which computes `live`."""

    matrices: Mapping[str, DrawnMatrix]
    steps: Sequence[DrawnStep]
    knobs: Annotated[Sequence[DrawnKnob] | None, OPTIONAL] = None
    live: Annotated[Live | None, OPTIONAL] = None


@dataclass(frozen=True)
class StepSettings:
    """Settings for small numbers; a model's chain was computed with its own."""

    heads: int = 1
    head: int = 0
    causal: bool = True
    scaled: bool = True
    kv_heads: Annotated[int | None, OPTIONAL] = None
    """Key/value heads; by default every head has its own."""
    activation: Annotated[str | None, OPTIONAL] = None
    """Settings of a feed-forward network, which is then computed."""
    gated: Annotated[bool | None, OPTIONAL] = None
