"""What is kept for later, within one budget of bytes: captures, what is drawn of them, films."""

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
    shared: Mapping[int, tuple[Any, int]]  # what others may hold as well: by identity, with its bytes


class ByteBudgetCache:
    """At most ``most`` bytes together; what was used longest ago goes first. Safe to use from several threads.

    ``group`` is whose it is: a model's captures, a session's film. What is larger than all is not kept. What several
    entries hold, such as a capture and a film of it, counts once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[tuple[Hashable, Hashable], _Entry] = OrderedDict()
        self._nbytes = 0
        self._holders: Counter[int] = Counter()  # of each thing that may be shared, how many entries hold it
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def nbytes_of(self, group: Hashable) -> int:
        """Of one group."""
        with self._lock:
            entries = [entry for (owner, _), entry in self._held.items() if owner == group]
        shared = {part: size for entry in entries for part, (_, size) in entry.shared.items()}
        return sum(entry.nbytes for entry in entries) + sum(shared.values())

    def get(self, group: Hashable, key: Hashable) -> Any | None:
        """What was kept, which is now the last used."""
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
        """Keep it, in place of what was kept under this name; ``let_go`` is called when it makes room for others.

        It takes ``nbytes``, and those of its ``parts``, which other entries may hold as well.
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
        """What ``make`` gives for this key: made once, and again when it had to go."""
        found = self.get(group, key)
        if found is None:
            found = make()
            self.put(group, key, found, parts=[found])
        return found

    def forget(self, group: Hashable, key: Hashable | None = None) -> None:
        """Keep nothing of this group any more, or not this of it; nobody is told."""
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
    """About how many bytes a value holds: arrays, texts and what is in lists, mappings and dataclasses.

    What is in it twice counts once.
    """
    own, shared = _counted([value])
    return own + sum(size for _, size in shared.values())


def _counted(values: Iterable[Any]) -> tuple[int, dict[int, tuple[Any, int]]]:
    """What these hold: bytes of small things together; and by identity whatever tells its ``nbytes``, with them.

    What names its ``parts``, as a capture does, is made of those.
    """
    own, shared, seen, ahead = 0, dict[int, tuple[Any, int]](), dict[int, Any](), list(values)
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one  # held, so that nothing else has its identity
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
