"""Compare: the Python lines of "Export" give the numbers that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tests.pages.test_adapters import write_adapter
from tests.pages.test_compare import BOOK, PAGE, maps, same
from tests.ui.driving import html, open_app

pytestmark = pytest.mark.table  # each loads its models anew


@pytest.fixture
def open_menus(monkeypatch) -> None:
    closed = DeltaGenerator.popover

    def popover(self: DeltaGenerator, *args: Any, **options: Any) -> Any:
        menu = closed(self, *args, **options)
        menu.open = True
        return menu

    monkeypatch.setattr(DeltaGenerator, "popover", popover)
    monkeypatch.setattr(st, "download_button", lambda *_, **__: None)


def run(**address: str) -> tuple[Any, dict[str, Any]]:
    """The page at this address, and what its lines leave."""
    app = open_app(page=PAGE, **address)
    (lines,) = (one.value for one in app.code if one.language == "python")
    left: dict[str, Any] = {}
    exec(lines, left)  # which is what a reader does with them
    return app, left


@pytest.mark.usefixtures("open_menus")
def test_of_maps():
    app, left = run(**{"compare.model": "encoder", "compare.text": BOOK})
    for name, (_, values) in zip(("a", "b", "values"), maps(app), strict=True):
        same(left[name], values)


@pytest.mark.usefixtures("open_menus")
def test_of_a_model_with_its_adapter_and_without(tmp_path):
    adapter = str(write_adapter(tmp_path / "lora", "default"))
    app, left = run(**{"model": adapter, "adapter": "0", "compare.model": ":switched"})
    for name, (_, values) in zip(("a", "b", "values"), maps(app), strict=True):
        same(left[name], values)
    assert np.nanmax(np.abs(left["values"])) > 0.01


@pytest.mark.usefixtures("open_menus")
def test_of_two_layers():
    app, left = run(**{"compare.head": "L2H5", "compare.layers": "1"})
    for name, (_, values) in zip(("a", "b", "values"), maps(app), strict=True):
        same(left[name], values)
    app, left = run(**{"compare.head": "L2H5", "compare.layers": "1", "compare.view": "metrics"})
    assert f">{100 * left['values']['previous'][0]:.1f} %<" in html(app)


@pytest.mark.usefixtures("open_menus")
def test_of_metrics():
    app, left = run(**{"compare.head": "L2H5", "compare.view": "metrics"})
    a, b = left["values"]["previous"]
    assert f">{100 * a:.1f} %<" in html(app)
    assert f">{100 * b:.1f} %<" in html(app)


@pytest.mark.usefixtures("open_menus")
def test_of_next_tokens():
    app, left = run(**{"compare.text": BOOK, "compare.view": "next"})
    assert f"{left['pair'].kl:.3g} bits" in html(app)
    assert left["pair"].first[0] == pytest.approx(np.max(left["pair"].first))


@pytest.mark.usefixtures("open_menus")
def test_of_tokens():
    app, left = run(text="a [MASK] b", **{"compare.model": "encoder", "compare.view": "tokens"})
    alone = sum(not piece.shared for piece in left["pieces"]) - 1  # ⟨SEP⟩ is no text
    assert f"On one side only (dashed): {alone}." in html(app)


@pytest.mark.long
@pytest.mark.usefixtures("open_menus")
def test_of_two_heads_that_hear_the_same_sound(folder_of):
    _, left = run(**{"model": folder_of("whisper"), "compare.head": "L1H1", "compare.view": "metrics"})
    assert left["other"].request == left["capture"].request
