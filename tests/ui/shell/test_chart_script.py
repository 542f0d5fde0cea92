"""Plotly's script is loaded before the first chart needs it, and is the one that Streamlit imports."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import Page, expect

from tests.browser import PATIENCE, Server
from ui.shell.frame import chart_script

LOADED = """(name) => performance.getEntriesByType("resource").filter((one) => one.name.includes(name)).length"""
ONCE = LOADED.replace(".length", ".length === 1")  # the browser writes its list a moment after a script has run


def test_streamlit_imports_the_script_by_this_name():
    assert chart_script()
    scripts = Path(streamlit.__file__).parent.joinpath("static", "static", "js").glob("index.*.js")
    assert any(f"./{chart_script()}" in script.read_text(encoding="utf-8") for script in scripts)


@pytest.mark.browser
def test_it_is_imported_once_while_nobody_does_anything(page: Page, server: Server):
    page.goto(f"{server.url}/block")
    expect(page.locator(".model-stages[data-painted]").first).to_be_visible(timeout=PATIENCE)
    assert page.evaluate(LOADED, chart_script()) == 0
    expect(page.locator(".theme-switch[data-charts]")).to_be_attached(timeout=PATIENCE)
    page.wait_for_function(ONCE, arg=chart_script())
    page.locator(".st-key-block-view [role=radio]").nth(3).click()
    expect(page.locator(".js-plotly-plot .scatterlayer").first).to_be_visible(timeout=PATIENCE)
    assert page.evaluate(LOADED, chart_script()) == 1
