"""Take every picture of README and docs anew, in a browser, from the app as it is.

    python -m tests.doc_images [NAME ...]            writes docs/images/*.png

To be run when a page that has a picture looks otherwise. Chromium has to be installed.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from benchmarks._app import App, running_app, settle
from benchmarks._chromium import chromium
from tests.browser import ROOT, Watch

FOLDER = ROOT / "docs" / "images"
SIZE = (1440, 900)
COLORS = 256  # an interface has few: a fifth of the bytes
STORY = "text=The+dog+chased+the+squirrel+because+it"
PICTURES = {  # name → address, and what is there once it is drawn
    "heads": (f"/?{STORY}", ".head-map[data-painted]"),
    "translation": ("/?model=translator", ".head-map[data-painted]"),
    "positions": (f"/positions?{STORY}", ".rotation[data-painted]"),
    "film": (f"/film?{STORY}&film.length=6&film.steps=4&sampling.temperature=0", ".film[data-frame='4']"),
    "effects": (f"/edit_heads?edit_heads.view=effects&{STORY}", ".layer-head-map[data-painted]"),
    "steps": (f"/steps?steps.source=model&steps.step=scores&{STORY}", ".step-by-step[data-painted]"),
    "lens": (f"/block?block.view=lens&{STORY}", ".layer-head-map, .st-key-lens_chart, table"),
}


def main(names: list[str]) -> None:
    """Write those that are named, or all."""
    with chromium() as browser, running_app(Watch()) as app:
        for name in names or PICTURES:
            page = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, locale="en-US").new_page()
            _write(FOLDER / f"{name}.png", _taken(app, page, *PICTURES[name]))
            page.context.close()


def _taken(app: App, page: Page, address: str, drawn: str) -> bytes:
    """The window once everything in it is drawn and nothing runs."""
    page.set_default_timeout(120_000)
    app.open(page, address)
    page.locator(".atlas-badge.ok").first.wait_for()
    page.locator(drawn).first.wait_for()
    settle(page)
    page.locator("[role=progressbar]").first.wait_for(state="hidden")
    settle(page)
    return page.screenshot()


def _write(path: Path, picture: bytes) -> None:
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLORS, method=Image.Quantize.FASTOCTREE).save(
        path, optimize=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
