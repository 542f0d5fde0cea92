"""The texts that grow here: each belongs to a key, and one that nobody asks for any more is let go."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from model_runner.errors import Cancelled, ModelSilent
from model_runner.questions import EndRun

if TYPE_CHECKING:
    from model_runner.local.runner import LocalRunner

IDLE = 600.0  # seconds after which a text that nobody continues is let go


class GrowingTexts:
    """Used by the one thread that takes requests."""

    def __init__(self, most: int) -> None:
        """``most`` texts of one key grow at a time; the one that was continued longest ago goes first."""
        self._most = most
        self._held: OrderedDict[str, tuple[LocalRunner, float]] = OrderedDict()

    def asked(self, run: str, runner: LocalRunner, *, begins: bool) -> None:
        """This run begins or goes on; others that are too old, or too many of its key, end."""
        if not begins and run not in self._held:
            return  # it was let go, and whoever asks is told by the runner
        self._held[run] = runner, time.monotonic()
        self._held.move_to_end(run)
        owner = _owner(run)
        own = [name for name in self._held if _owner(name) == owner]
        late = time.monotonic() - IDLE
        old = [name for name, (_, when) in self._held.items() if when < late]
        for name in dict.fromkeys((*old, *own[: max(0, len(own) - self._most)])):
            self._end(name)

    def ended(self, run: str) -> None:
        """Its owner ends it."""
        self._held.pop(run, None)

    def _end(self, run: str) -> None:
        runner, _ = self._held.pop(run)
        try:
            runner.submit(EndRun(run))
        except (Cancelled, ModelSilent):  # its model was given up, and the text with it
            return


def _owner(run: str) -> str:
    return run.partition(" ")[0]
