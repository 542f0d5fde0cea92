"""Generations in progress on this server: each belongs to a key, and idle ones are dropped."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from model_runner.errors import Cancelled, ModelSilent
from model_runner.questions import EndRun

if TYPE_CHECKING:
    from model_runner.local.runner import LocalRunner

IDLE = 600.0  # seconds of inactivity after which a generation is dropped


class GrowingTexts:
    """Used only by the thread that accepts requests."""

    def __init__(self, most: int) -> None:
        """``most`` generations per key; above that, the least recently continued one is dropped."""
        self._most = most
        self._held: OrderedDict[str, tuple[LocalRunner, float]] = OrderedDict()

    def asked(self, run: str, runner: LocalRunner, *, begins: bool) -> None:
        """Record that this run starts or continues; drop runs that are idle, or too many for its key."""
        if not begins and run not in self._held:
            return  # it was dropped; the runner reports that to the client
        self._held[run] = runner, time.monotonic()
        self._held.move_to_end(run)
        owner = _owner(run)
        own = [name for name in self._held if _owner(name) == owner]
        late = time.monotonic() - IDLE
        old = [name for name, (_, when) in self._held.items() if when < late]
        for name in dict.fromkeys((*old, *own[: max(0, len(own) - self._most)])):
            self._end(name)

    def ended(self, run: str) -> None:
        """Forget a run that its owner ended."""
        self._held.pop(run, None)

    def _end(self, run: str) -> None:
        runner, _ = self._held.pop(run)
        try:
            runner.submit(EndRun(run))
        except (Cancelled, ModelSilent):  # the model was evicted, and the run with it
            return


def _owner(run: str) -> str:
    return run.partition(" ")[0]
