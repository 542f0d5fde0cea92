"""Reads files of untrusted folders within bounds, so that none of them can exhaust or block the server."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from model_runner.errors import N_, ModelIncomplete, Reason

CONFIG = "config.json"
MISSING = N_("{file} is missing")
NO_HEADER = N_("{file} has no readable header")
MOST_JSON = 16 << 20  # bytes of a JSON file or a header; the largest published models have 9 million
# counts of modules that are built one after another
COUNTS = re.compile(r"(.*_)?(layers?|blocks|depths?|experts|labels)")
MOST_COUNTED = 4096
MOST_EXPERTS = 1 << 16  # Doge's are rows of a table, 16,384 of them
MOST_DEEP = 64  # depth of nested lists and objects
MOST_AXES = 8
FAR = 2**63
NESTED = (dict, list)  # as json makes them
# Bits per number; a tensor of another type is refused by the library that reads it.
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4, "I16": 16, "U16": 16, "F16": 16,
    "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64, "C64": 64,
}  # fmt: skip


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """Read the JSON object in a file of the folder. Raises ModelIncomplete."""
    path = folder / name
    if not path.is_file():
        raise _refused(folder, MISSING, file=name)
    if path.stat().st_size > MOST_JSON:
        raise _refused(folder, N_("{file} has more than {most} bytes"), file=name, most=MOST_JSON)
    try:
        value = json.loads(path.read_bytes().decode("utf-8"))  # reading megabytes as text takes twice as long
    except (ValueError, RecursionError) as error:
        raise _refused(folder, N_("{file} is not readable JSON"), file=name) from error
    if not isinstance(value, dict):
        raise _refused(folder, N_("{file} is not a JSON object"), file=name)
    if _depth(value) > MOST_DEEP:
        raise _refused(folder, N_("{file} is nested more than {most} deep"), file=name, most=MOST_DEEP)
    return value


def check_counts(folder: Path, config: dict[str, Any]) -> None:
    """Raises ModelIncomplete for a configuration with more layers than any real model: building them would never
    finish.
    """
    for name, number in numbers(config):
        most = MOST_EXPERTS if name.endswith("experts") else MOST_COUNTED
        if number > most and COUNTS.fullmatch(name):
            text = N_("config.json declares {number} as {name}, and no model has more than {most}")
            raise _refused(folder, text, number=f"{number:,}", name=name, most=most)


def numbers(value: Any, name: str = "") -> Iterator[tuple[str, int | float]]:
    """Every number in the value, with the name it is under."""
    if isinstance(value, int | float):
        yield name, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from numbers(one, name)


def read_header(folder: Path, file: Path) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor in a .safetensors file, by name.

    Raises ModelIncomplete if the header is invalid, or if the file is not as long as its header says.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 0 < length <= size - 8:
            raise _refused(folder, N_("{file} is cut off ({size} bytes)"), file=file.name, size=size)
        if length > MOST_JSON:
            raise _refused(folder, NO_HEADER, file=file.name)
        try:
            header = json.loads(stream.read(length))
            tensors = {str(name): _tensor(entry) for name, entry in header.items() if name != "__metadata__"}
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise _refused(folder, NO_HEADER, file=file.name) from error
    end = 8 + length + max((end for _, end in tensors.values()), default=0)
    if size != end:
        raise _refused(folder, N_("{file} has {size} of {end} bytes"), file=file.name, size=size, end=end)
    return {name: shape for name, (shape, _) in tensors.items()}


def _tensor(entry: dict[str, Any]) -> tuple[tuple[int, ...], int]:
    """Shape and end offset of a tensor. An invalid entry raises one of the errors caught above."""
    shape, (start, end) = entry["shape"], entry["data_offsets"]
    if not all(type(number) is int and 0 <= number < FAR for number in (*shape, start, end)) or len(shape) > MOST_AXES:
        raise ValueError(shape)
    bits = BITS.get(entry["dtype"])
    if bits is not None and math.prod(shape) * bits != (end - start) * 8:
        raise ValueError(shape)
    return tuple(shape), end


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested."""
    deep, layer = 0, [value] if type(value) in NESTED else []
    while layer:
        deep += 1
        insides = (one.values() if type(one) is dict else one for one in layer)
        layer = [inner for inside in insides for inner in inside if type(inner) in NESTED]
    return deep


def _refused(folder: Path, text: str, **values: Any) -> ModelIncomplete:
    return ModelIncomplete(name=str(folder), reason=Reason(text, values))
