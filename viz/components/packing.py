"""One byte string that carries JSON and typed arrays to a component.

Layout: a little-endian uint32 with the header's length; the header, UTF-8 JSON `{"meta": …, "arrays": {name:
{"dtype", "shape", "offset"}}}`; zeros up to a multiple of four; the arrays' bytes, each starting on a multiple of
four counted from the start of this data section. `unpack` in shared/packing.js is the other half.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

JSON: TypeAlias = "None | bool | int | float | str | Sequence[JSON] | Mapping[str, JSON]"

_DTYPES = ("float32", "uint8", "int32")  # those with a JavaScript typed array of the same layout


def pack(meta: Mapping[str, JSON], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The packed bytes. Equal arguments give equal bytes, so that an unchanged payload is not sent again.

    NaN is allowed in float arrays, where it means "masked" or "undefined", and is a ValueError in `meta`, since JSON
    has no NaN. An array of another dtype than float32, uint8 or int32 is a TypeError.
    """
    index: dict[str, dict[str, str | int | list[int]]] = {}
    chunks: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        dtype = array.dtype.name
        if dtype not in _DTYPES:
            raise TypeError(f"array {name!r} is {dtype}; components read only {', '.join(_DTYPES)}")
        chunk = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        index[name] = {"dtype": dtype, "shape": list(array.shape), "offset": offset}
        chunks += [chunk, _padding(len(chunk))]
        offset += len(chunk) + len(chunks[-1])
    # ensure_ascii stays on: a lone surrogate in a token survives as an escape, while UTF-8 would reject it
    header = json.dumps({"meta": meta, "arrays": index}, allow_nan=False, separators=(",", ":")).encode("ascii")
    return b"".join([struct.pack("<I", len(header)), header, _padding(4 + len(header)), *chunks])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What was packed: the metadata, and the arrays by name, which are read-only."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    start = 4 + length + len(_padding(4 + length))
    arrays = {
        name: np.frombuffer(
            data, np.dtype(one["dtype"]).newbyteorder("<"), math.prod(one["shape"]), start + one["offset"]
        ).reshape(one["shape"])
        for name, one in header["arrays"].items()
    }
    return header["meta"], arrays


def _padding(length: int) -> bytes:
    return bytes(-length % 4)
