"""What is kept for later, within one budget of bytes: captures, what is drawn of them, films."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Entry:
    value: Any
    nbytes: int
    let_go: Callable[[], None]


class ByteBudgetCache:
    """At most ``most`` bytes together; what was used longest ago goes first. Safe to use from several threads.

    ``group`` is whose it is: a model's captures, a session's film. What is larger than all is not kept.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[tuple[Hashable, Hashable], _Entry] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def nbytes_of(self, group: Hashable) -> int:
        """Of one group."""
        with self._lock:
            return sum(entry.nbytes for (owner, _), entry in self._held.items() if owner == group)

    def get(self, group: Hashable, key: Hashable) -> Any | None:
        """What was kept, which is now the last used."""
        with self._lock:
            entry = self._held.get((group, key))
            if entry is None:
                return None
            self._held.move_to_end((group, key))
            return entry.value

    def put(
        self, group: Hashable, key: Hashable, value: Any, nbytes: int, let_go: Callable[[], None] = lambda: None
    ) -> None:
        """Keep it, in place of what was kept under this name; ``let_go`` is called when it makes room for others."""
        gone: list[_Entry] = []
        with self._lock:
            self._remove((group, key))
            if nbytes <= self.most:
                self._held[group, key] = _Entry(value, nbytes, let_go)
                self._nbytes += nbytes
                while self._nbytes > self.most:
                    gone.append(self._remove(next(iter(self._held))))
            else:
                gone.append(_Entry(value, nbytes, let_go))
        for entry in gone:
            entry.let_go()

    def made(self, group: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives for this key: made once, and again when it had to go."""
        found = self.get(group, key)
        if found is None:
            found = make()
            self.put(group, key, found, weight(found))
        return found

    def forget(self, group: Hashable, key: Hashable | None = None) -> None:
        """Keep nothing of this group any more, or not this of it; nobody is told."""
        with self._lock:
            for name in [name for name in self._held if name[0] == group and key in (None, name[1])]:
                self._remove(name)

    def _remove(self, name: tuple[Hashable, Hashable]) -> Any:
        entry = self._held.pop(name, None)
        self._nbytes -= 0 if entry is None else entry.nbytes
        return entry


def weight(value: Any) -> int:
    """About how many bytes a value holds: arrays, texts and what is in lists, mappings and dataclasses.

    What is in it twice counts once.
    """
    seen: set[int] = set()
    total, ahead = 0, [value]
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        nbytes = getattr(one, "nbytes", None)
        total += nbytes if isinstance(nbytes, int) else sys.getsizeof(one)
        if not isinstance(nbytes, int):
            ahead += _parts(one)
    return total


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return ()
