"""A cache with a byte budget: captures, results computed from them, and films."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Entry:
    value: Any
    nbytes: int  # of its own
    let_go: Callable[[], None]
    shared: Mapping[int, tuple[Any, int]]  # what other entries may hold as well: by identity, with its bytes


class ByteBudgetCache:
    """An LRU cache of at most ``most`` bytes. Thread-safe.

    ``group`` is the owner of entries: a model's captures, a session's film. Entries larger than the budget are not
    stored. What several entries hold, such as a capture and a film of it, counts once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[tuple[Hashable, Hashable], _Entry] = OrderedDict()
        self._nbytes = 0
        self._holders: Counter[int] = Counter()  # for each shared object, the number of entries that hold it
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def nbytes_of(self, group: Hashable) -> int:
        """Bytes of one group."""
        with self._lock:
            entries = [entry for (owner, _), entry in self._held.items() if owner == group]
        shared = {part: size for entry in entries for part, (_, size) in entry.shared.items()}
        return sum(entry.nbytes for entry in entries) + sum(shared.values())

    def get(self, group: Hashable, key: Hashable) -> Any | None:
        """The cached value, marked as most recently used, or None."""
        with self._lock:
            entry = self._held.get((group, key))
            if entry is None:
                return None
            self._held.move_to_end((group, key))
            return entry.value

    def put(
        self,
        group: Hashable,
        key: Hashable,
        value: Any,
        nbytes: int = 0,
        let_go: Callable[[], None] = lambda: None,
        *,
        parts: Iterable[Any] = (),
    ) -> None:
        """Cache a value, replacing an earlier one under this key; ``let_go`` is called when it is evicted.

        It counts ``nbytes``, and those of its ``parts``, which other entries may hold as well.
        """
        own, shared = _counted(parts)
        entry, gone = _Entry(value, nbytes + own, let_go, shared), list[_Entry]()
        with self._lock:
            self._remove((group, key))
            if entry.nbytes + sum(size for _, size in shared.values()) <= self.most:
                self._add((group, key), entry)
                while self._nbytes > self.most:
                    gone.append(self._remove(next(iter(self._held))))
            else:
                gone.append(entry)
        for entry in gone:
            entry.let_go()

    def made(self, group: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, cached under this key and computed again after an eviction."""
        found = self.get(group, key)
        if found is None:
            found = make()
            self.put(group, key, found, parts=[found])
        return found

    def forget(self, group: Hashable, key: Hashable | None = None) -> None:
        """Drop a group, or one entry of it, without calling ``let_go``."""
        with self._lock:
            for name in [name for name in self._held if name[0] == group and key in (None, name[1])]:
                self._remove(name)

    def _add(self, name: tuple[Hashable, Hashable], entry: _Entry) -> None:
        self._held[name] = entry
        self._nbytes += entry.nbytes + sum(size for part, (_, size) in entry.shared.items() if not self._holders[part])
        self._holders.update(entry.shared.keys())

    def _remove(self, name: tuple[Hashable, Hashable]) -> Any:
        entry = self._held.pop(name, None)
        if entry is not None:
            self._holders.subtract(entry.shared.keys())
            left = [(part, size) for part, (_, size) in entry.shared.items() if not self._holders[part]]
            self._nbytes -= entry.nbytes + sum(size for _, size in left)
            for part, _ in left:
                del self._holders[part]
        return entry


def weight(value: Any) -> int:
    """Approximate bytes of a value: arrays, texts, and the contents of lists, mappings and dataclasses.

    What occurs in it twice counts once.
    """
    own, shared = _counted([value])
    return own + sum(size for _, size in shared.values())


def _counted(values: Iterable[Any]) -> tuple[int, dict[int, tuple[Any, int]]]:
    """The bytes of small objects together, and by identity every object with ``nbytes``, with its bytes.

    An object with ``parts``, such as a capture, consists of those.
    """
    own, shared, seen, ahead = 0, dict[int, tuple[Any, int]](), dict[int, Any](), list(values)
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one  # keeps a reference, so that no other object gets its identity
        parts, nbytes = getattr(one, "parts", None), getattr(one, "nbytes", None)
        if isinstance(parts, tuple):
            ahead += parts
        elif isinstance(nbytes, int):
            shared[id(one)] = one, nbytes
        else:
            own += sys.getsizeof(one)
            ahead += _inside(one)
    return own, shared


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return ()
