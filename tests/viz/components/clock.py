"""Time in the page as the test gives it, so that a slow machine sees what a fast one sees."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

_HELD: WeakSet[Any] = WeakSet()


def hold(page: Any) -> None:
    """Stop the page's clock, timers and frames; from here on time passes with `page.clock.run_for(milliseconds)`."""
    _HELD.add(page)
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def is_held(page: Any) -> bool:
    return page in _HELD


def settle(page: Any) -> None:
    """Wait until what was asked for so far is painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
