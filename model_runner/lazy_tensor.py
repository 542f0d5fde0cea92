"""A tensor whose data are remote: its shape and dtype are known, and it is fetched when it is used in a computation.

For torch and all callers it is a tensor: every operation fetches the data first, once. If only a slice of the first
dimension is used (one head of q, one position of the stream), only that is fetched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

Fetch = Callable[[int, int], Tensor]  # rows start to stop of the first dimension

PARTS = 16  # slices of one tensor that are cached, until it is fetched whole

# What is known without the data.
_KNOWN = {
    *(
        getattr(Tensor, name).__get__
        for name in (
            "shape", "dtype", "device", "layout", "ndim", "nbytes", "itemsize", "requires_grad", "is_cuda", "is_meta",
            "is_mps", "is_quantized", "is_sparse", "grad_fn", "is_leaf",
        )
    ),
    Tensor.size, Tensor.dim, Tensor.ndimension, Tensor.numel, Tensor.nelement, Tensor.element_size, Tensor.__len__,
    Tensor.is_floating_point, Tensor.is_complex, torch.is_floating_point, torch.is_complex, torch.numel,
    Tensor.__hash__,
}  # fmt: skip


class LazyTensor(Tensor):
    """Made by :func:`lazy_tensor`."""

    rows: _Rows
    number: int  # index of the part

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """torch's hook for every operation: applied to the fetched data, unless the result is known without."""
        if func in _KNOWN:
            with torch._C.DisableTorchFunctionSubclass():  # pyright: ignore[reportPrivateUsage]  as torch's documentation has it
                return func(*args, **(kwargs or {}))
        if func is Tensor.__getitem__ and isinstance(args[0], LazyTensor):
            return _indexed(args[0], args[1])
        return func(*_numbers(tuple(args)), **_numbers(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The same hook for calls from torch's C++ code."""
        return func(*_numbers(tuple(args)), **_numbers(kwargs or {}))


def is_away(tensor: Tensor) -> bool:
    """True if its data would have to be fetched."""
    return isinstance(tensor, LazyTensor) and not tensor.rows.here


def has_rows(tensor: Tensor, start: int, stop: int) -> bool:
    """True if these rows can be read without fetching them."""
    return not isinstance(tensor, LazyTensor) or tensor.rows.has(start, stop)


class _Rows:
    """The fetched data of one tensor; thread-safe."""

    def __init__(self, count: int, fetch: Fetch, check: Callable[[Tensor, int], None]) -> None:
        self._count, self._fetch, self._check = count, fetch, check
        self._lock = threading.Lock()
        self._whole: Tensor | None = None
        self._parts: dict[tuple[int, int], Tensor] = {}

    @property
    def here(self) -> bool:
        """True if all of it was fetched."""
        return self._whole is not None

    def has(self, start: int, stop: int) -> bool:
        """True if these rows were fetched."""
        return self.here or (start, stop) in self._parts

    def give(self, start: int, stop: int, found: Tensor) -> None:
        """Store these rows, which arrived with others, as if they had been fetched. Raises ValueError."""
        self._check(found, stop - start)
        with self._lock:
            if self._whole is None:
                self._keep(start, stop, found)

    def whole(self) -> Tensor:
        return self.part(0, self._count)

    def part(self, start: int, stop: int) -> Tensor:
        with self._lock:
            if self._whole is not None:
                return self._whole[start:stop]
            if (start, stop) not in self._parts:
                found = self._fetch(start, stop)
                self._check(found, stop - start)
                self._keep(start, stop, found)
                return found
            return self._parts[start, stop]

    def _keep(self, start: int, stop: int, found: Tensor) -> None:
        if stop - start == self._count:
            self._whole = found
            self._parts.clear()
            return
        while len(self._parts) >= PARTS:
            del self._parts[next(iter(self._parts))]
        self._parts[start, stop] = found


def lazy_tensor(shape: Sequence[int], dtype: torch.dtype, fetch: Fetch, number: int = 0) -> LazyTensor:
    """A tensor on the CPU whose data ``fetch`` returns. Its errors are raised where the data are needed.

    Raises ValueError, there, for data of another shape or dtype.
    """
    made: Any = Tensor._make_wrapper_subclass(LazyTensor, tuple(shape), dtype=dtype, device="cpu")  # type: ignore[attr-defined]

    def check(found: Tensor, rows: int) -> None:
        if found.dtype != dtype or tuple(found.shape) != (rows, *shape[1:]):
            raise ValueError(f"{tuple(found.shape)} {found.dtype} came for {(rows, *shape[1:])} {dtype}")

    made.rows = _Rows(shape[0], fetch, check)
    made.number = number
    return made


def _numbers(values: Any) -> Any:
    return tree_map_only(LazyTensor, lambda one: one.rows.whole(), values)


def _indexed(tensor: LazyTensor, at: Any) -> Tensor:
    """Like indexing a tensor; fetches only the slice of the first dimension that is used."""
    first, *rest = at if isinstance(at, tuple) else (at,)
    count = tensor.shape[0]
    if isinstance(first, slice) and first.step in (None, 1):
        start, stop, _ = first.indices(count)
        found = tensor.rows.part(start, stop) if start < stop else tensor.rows.whole()[0:0]
        return found[(slice(None), *rest)]
    if isinstance(first, int) and not isinstance(first, bool) and -count <= first < count:
        found = tensor.rows.part(first % count, first % count + 1)[0]
        return found[tuple(_numbers(rest))] if rest else found
    return tensor.rows.whole()[_numbers(at)]
