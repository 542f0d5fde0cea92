"""Every tensor that an object keeps alive by itself, models excepted: what "stored" means in the memory tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from torch import Tensor, nn


def stored_tensors(owner: Any) -> list[Tensor]:
    """All tensors reachable from the object through attributes, containers and closures; no place in memory twice."""
    by_place = {(tensor.data_ptr(), tensor.numel()): tensor for tensor in _reachable(owner)}
    return list(by_place.values())


def stored_bytes(owner: Any) -> int:
    """Bytes of the storages behind those tensors: a small view of a large storage counts as large."""
    storages = [tensor.untyped_storage() for tensor in stored_tensors(owner)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _reachable(owner: Any) -> Iterator[Tensor]:
    seen: set[int] = set()
    waiting = [owner]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (nn.Module, type, ModuleType, BuiltinFunctionType, str, bytes)):
            continue
        seen.add(id(thing))
        if isinstance(thing, nn.Parameter):
            continue
        if isinstance(thing, Tensor):
            yield thing
        elif isinstance(thing, FunctionType):  # not its globals: they reach everything
            waiting += [cell.cell_contents for cell in thing.__closure__ or ()] + list(thing.__defaults__ or ())
        elif isinstance(thing, MethodType):
            waiting += [thing.__self__, thing.__func__]
        else:
            waiting += gc.get_referents(thing)
