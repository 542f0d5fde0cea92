"""A fake clock in the page, so that slow and fast machines see the same."""

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
    """Wait until what was asked for so far is painted; nothing, where the test holds the clock."""
    if not is_held(page):
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait(page: Any, milliseconds: int) -> None:
    """Wait by the page's own timers: those that were due before are over, however slow the machine is."""
    page.evaluate("(milliseconds) => new Promise((done) => setTimeout(done, milliseconds))", milliseconds)
