"""Metrics for the operator, in Prometheus's text format 0.0.4."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

PREFIX = "atlas_"
HELP = {
    "requests_total": ("counter", "Requests answered, by the class of their status."),
    "refused_total": ("counter", "What was refused, by the limit or rule that refused it."),
    "failures_total": ("counter", "Pages that ended with an error of their own."),
    "sessions": ("gauge", "Sessions that are in."),
    "sessions_waiting": ("gauge", "Sessions that wait for a place."),
    "draining": ("gauge", "1 while nobody new is let in, because the server is about to end."),
    "connections": ("gauge", "Connections that are open."),
    "queue": ("gauge", "Questions asked of the models and not answered yet."),
    "work_seconds_total": ("counter", "Seconds in which a model answered questions."),
    "memory_bytes": ("gauge", "Memory of the process."),
    "kept_bytes": ("gauge", "Memory of what is kept of texts, so that it need not be made again."),
}


class Meter:
    """Counters, and gauges that are evaluated on request. Holds no user text and no names."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._read: dict[str, Callable[[], float]] = {}
        self._lock = threading.Lock()

    def count(self, name: str, kind: str = "") -> None:
        """Increment a counter; ``kind`` is a label such as 'status="2xx"'."""
        with self._lock:
            self._counts[name, kind] += 1

    def watch(self, **read: Callable[[], float]) -> None:
        """Register gauges by name, evaluated at every scrape."""
        with self._lock:
            self._read |= read

    def text(self) -> str:
        """All metrics in the text format."""
        with self._lock:
            numbers: dict[str, list[tuple[str, float]]] = {}
            for (name, kind), value in sorted(self._counts.items()):
                numbers.setdefault(name, []).append((f"{{{kind}}}" if kind else "", value))
            for name, read in self._read.items():
                numbers[name] = [("", read())]
        lines: list[str] = []
        for name, (kind, words) in HELP.items():
            lines += [f"# HELP {PREFIX}{name} {words}", f"# TYPE {PREFIX}{name} {kind}"]
            lines += [f"{PREFIX}{name}{labels} {value:.15g}" for labels, value in numbers.get(name, [])]
        return "\n".join([*lines, ""])


METER = Meter()  # of this process; shared by its middleware, its admission queue and its models
