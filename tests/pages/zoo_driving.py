"""Drive the page Zoo: open it at a URL, and read its maps, their heads, and its exports."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from analysis.zoo import captured_head
from model_runner import CaptureRequest, load_runner
from tests.ui.driving import open_app, payloads
from tests.ui.taken import Taken, taken
from ui.shared import export_bundle as ui_view
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/zoo/page.py"
PLACE = ("model", "text", "layer", "head", "query", "key")  # parts of the address that every page has


@functools.cache
def head(model: str = "default", layer: int = 3, number: int = 5):
    return captured_head(load_runner(model).capture(CaptureRequest(text=DEFAULT_TEXT)), layer, number)


def opened(**values: str):
    address = {name if name in PLACE else f"zoo.{name}": v for name, v in values.items()}
    return open_app(page=PAGE, **{"layer": "3", "head": "5"} | address)


def maps(app) -> list[np.ndarray]:
    return [arrays["values"] for _meta, arrays in payloads(app, "head_map")]


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-5)


def offering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], Taken]]:
    """What the page offers to take away at an address, with its tables."""
    kept: list[Any] = []
    monkeypatch.setattr(ui_view, "show_file_menu", lambda opened, shown: kept.append(taken(opened, shown)))
    monkeypatch.setattr(ui_view, "show_tables", lambda make, _covered: kept.append(make()))

    def of(**values: str) -> tuple[dict[str, Any], Taken]:
        opened(**values).run()  # what is measured begins at the second look
        return kept[-2], kept[-1]

    return of
