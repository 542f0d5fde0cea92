"""A picture is packed according to its fields, and its types are generated from the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from scripts.picture_types import interfaces
from viz.components.packing import unpack
from viz.components.picture import (
    UNSENT,
    Bytes,
    ColoredPicture,
    Digits,
    Floats,
    HeadPlace,
    IntList,
    Ints,
    Parts,
    Picture,
    Texts,
    TypeScript,
    sent,
)


@dataclass(frozen=True, eq=False)
class Part:
    """What it is made of."""

    name: str
    cells: Bytes
    share: Annotated[float | None, Digits(3)] = None


@dataclass(frozen=True, eq=False)
class Example(ColoredPicture):
    """Said of the class."""

    values: Floats
    """[rows, columns]"""
    places: IntList
    head: HeadPlace | None
    kind: Literal["small", "large"]
    parts: Sequence[Part]
    names: Mapping[int, str]
    own: Annotated[Mapping[str, Any], TypeScript("Own | null")]
    texts: Texts
    most: Annotated[float, UNSENT] = 1.0
    kept: Bytes | None = None
    pairs: Sequence[Annotated[tuple[int, int], Parts(("a", "b"))] | None] = ()

    @sent
    def cells(self) -> Ints:
        """Those of all parts."""
        return np.concatenate([part.cells.ravel().astype(np.int32) for part in self.parts])

    @sent
    def large(self) -> bool:
        """Whether a value is above `most`."""
        return bool((self.values > self.most).any())


def example(**changes: Any) -> Example:
    part = Part("a", np.array([[1, 2]], np.uint8), 0.123456)
    values: dict[str, Any] = {
        "values": np.array([[0.5, np.nan]]),
        "places": [3, 1],
        "head": (np.int64(2), np.int64(5)),
        "kind": "small",
        "parts": [part, Part("b", np.array([True, False]))],
        "names": {4: "four"},
        "own": {"step": 1},
        "texts": {"cell": "{value}"},
    }
    return Example(**(values | changes))


def test_arrays_and_json_are_told_apart_by_the_types_of_fields():
    meta, arrays = unpack(example().packed())
    colors = meta.pop("palette")
    assert "masked" in colors
    assert meta == {
        "head": [2, 5],
        "kind": "small",
        "parts": [{"name": "a", "share": 0.123}, {"name": "b", "share": None}],
        "names": {"4": "four"},
        "own": {"step": 1},
        "texts": {"cell": "{value}"},
        "pairs": [],
        "large": False,
    }
    assert {name: one.dtype.name for name, one in arrays.items()} == {
        "values": "float32", "places": "int32", "cells": "int32",
    }  # fmt: skip  # an array a name
    assert arrays["cells"].tolist() == [1, 2, 1, 0]
    assert np.isnan(arrays["values"][0, 1])


def test_what_is_given_changes_what_is_sent_and_an_array_that_is_none_is_not_sent():
    _meta, arrays = unpack(example(kept=np.array([True])).packed())
    assert arrays["kept"].tolist() == [1]
    assert unpack(example(most=0.4).packed())[0]["large"] is True
    assert example().packed() == example().packed() != example(places=[3, 2]).packed()


def test_json_has_no_nan():
    with pytest.raises(ValueError, match="JSON"):
        example(names={1: float("nan")}).packed()


def test_a_dataclass_in_it_may_have_no_field_of_an_unknown_kind():
    @dataclass(frozen=True, eq=False)
    class Odd(Picture):
        """."""

        value: complex

    with pytest.raises(KeyError, match="complex"):
        interfaces(Odd)


def test_the_types_say_what_the_fields_say():
    assert interfaces(Example).splitlines() == [
        'import type { Bytes, Floats, Ints, Palette, Texts } from "../shared/types"',
        'import type { Own } from "./types"',
        "",
        "export interface Meta {",
        "  head: [layer: number, head: number] | null",
        '  kind: "small" | "large"',
        "  parts: Part[]",
        "  names: Record<string, string>",
        "  own: Own | null",
        "  texts: Texts",
        "  pairs: ([a: number, b: number] | null)[]",
        "  palette: Palette",
        "  /** Whether a value is above `most`. */",
        "  large: boolean",
        "}",
        "",
        "export interface Arrays {",
        "  /** [rows, columns] */",
        "  values: Floats",
        "  places: Ints",
        "  kept?: Bytes",
        "  /** Those of all parts. */",
        "  cells: Ints",
        "}",
        "",
        "/** What it is made of. */",
        "export interface Part {",
        "  name: string",
        "  share: number | null",
        "}",
    ]
