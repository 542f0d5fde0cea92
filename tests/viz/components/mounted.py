"""A single component on a page: its state, its messages, and new data for it, as from a rerun."""

from __future__ import annotations

from typing import Any

from tests.viz.components import shim
from tests.viz.components.clock import settle


def facts(page: Any) -> dict[str, str]:
    """The dataset of its root, once what was asked for is painted."""
    settle(page)
    return page.locator("[data-painted]").first.evaluate("root => ({...root.dataset})")


def calls(page: Any, event: str | None = None) -> list[Any]:
    """All that it told, as [event, value]; or the values of one event."""
    told = page.evaluate("window.calls.map(([_component, event, value]) => [event, value])")
    return told if event is None else [value for name, value in told if name == event]


def answer(page: Any, data: bytes) -> None:
    """Hand it other data."""
    page.evaluate("data => window.send(Object.keys(window.disposers)[0], data)", shim.encoded(data))
