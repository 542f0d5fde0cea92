"""A component on a page of its own, for browser tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.viz.components import shim
from viz.components.source import Source


@pytest.fixture
def mount(page) -> Callable[..., Any]:
    """Show a component in a window of this size, once it is painted; returns the page."""

    def show(
        source: Source,
        data: bytes,
        *,
        width: int = 1440,
        height: int = 900,
        theme: Mapping[str, str] = shim.LIGHT,
        style: str = "section{max-width:640px}",
    ) -> Any:
        page.set_viewport_size({"width": width, "height": height})
        page.set_content(shim.page((source, data), theme=theme, style=style))
        page.wait_for_function("window.ready")
        page.wait_for_selector("[data-painted]")
        return page

    return show
