"""Data packed in Python is unpacked in JavaScript, byte for byte."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np
import pytest

from tests.node import run_module
from viz.components.packing import pack, unpack


def unpacked(data):
    """An independent reader of the layout that packing.py describes."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length].decode("utf-8"))
    start = -(-(4 + length) // 4) * 4
    arrays = {}
    for name, entry in header["arrays"].items():
        dtype = np.dtype(entry["dtype"]).newbyteorder("<")
        count = int(np.prod(entry["shape"]))
        arrays[name] = np.frombuffer(data, dtype, count, start + entry["offset"]).reshape(entry["shape"])
    return header["meta"], arrays


ARRAYS = {
    "odd": np.arange(5, dtype=np.uint8),
    "floats": np.array([[1.5, np.nan], [-0.25, np.inf]], dtype=np.float32),
    "none": np.zeros((0, 3), dtype=np.float32),
    "whole": np.array([-(2**31), 2**31 - 1], dtype=np.int32),
}


@pytest.mark.parametrize("unpacked", [unpacked, unpack])
def test_arrays_and_meta_come_back_as_they_were(unpacked):
    meta, arrays = unpacked(pack({"word": "猫·⏎", "list": [1, None, True]}, ARRAYS))
    assert meta == {"word": "猫·⏎", "list": [1, None, True]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_every_array_starts_on_a_multiple_of_four():
    for word in ("", "a", "ab", "abc"):  # four lengths of header
        data = pack({"word": word}, ARRAYS)
        (length,) = struct.unpack_from("<I", data)
        entries = json.loads(data[4 : 4 + length])["arrays"]
        assert all(entry["offset"] % 4 == 0 for entry in entries.values())
        assert len(data) % 4 == 0


def test_views_and_other_byte_orders_are_packed_by_value():
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    _, arrays = unpacked(pack({}, {"view": grid[::-1, 1::2], "big": grid.astype(">f4")}))
    np.testing.assert_array_equal(arrays["view"], grid[::-1, 1::2])
    np.testing.assert_array_equal(arrays["big"], grid)


def test_equal_arguments_give_equal_bytes():
    assert pack({"a": 1}, ARRAYS) == pack({"a": 1}, {name: array.copy() for name, array in ARRAYS.items()})


def test_nan_in_meta_is_refused():
    with pytest.raises(ValueError, match="JSON compliant"):
        pack({"low": float("nan")}, {})


def test_an_array_javascript_cannot_read_is_refused_by_name():
    with pytest.raises(TypeError, match="'scores' is float64"):
        pack({}, {"scores": np.zeros(3)})


def test_a_lone_surrogate_survives():
    meta, _ = unpacked(pack({"token": "\ud800"}, {}))
    assert meta["token"] == "\ud800"


def test_javascript_reads_what_was_packed_even_at_an_odd_address():
    told = run_module(
        """
        import { unpack } from "./viz/components/shared/packing.js"
        const plain = Uint8Array.from(atob(given), (letter) => letter.charCodeAt(0))
        const shifted = new Uint8Array(plain.length + 1)
        shifted.set(plain, 1)
        const { meta, arrays } = unpack(shifted.subarray(1))
        const told = ([name, a]) => [name, a.constructor.name, a.shape, [...a].map(String)]
        answer([meta, Object.entries(arrays).map(told)])
        """,
        base64.b64encode(pack({"word": "猫", "deep": {"a": [1, None]}}, ARRAYS)).decode("ascii"),
    )
    meta, arrays = told
    assert meta == {"word": "猫", "deep": {"a": [1, None]}}
    assert arrays == [
        ["odd", "Uint8Array", [5], ["0", "1", "2", "3", "4"]],
        ["floats", "Float32Array", [2, 2], ["1.5", "NaN", "-0.25", "Infinity"]],
        ["none", "Float32Array", [0, 3], []],
        ["whole", "Int32Array", [2], ["-2147483648", "2147483647"]],
    ]
