"""The PNG that the browser makes of an SVG: twice the size, the same picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.viz.components import shim
from tests.viz.components.mounted import answer
from tests.viz.components.test_packing import unpacked
from viz.color import sequential
from viz.components.save_picture.save_picture import SOURCE, SavePicture
from viz.figure_svg import map_svg

VALUES = np.array([[1.0, np.nan], [0.25, 0.75]])


def svg():
    labels = ["<script>", "·注意"]
    options: dict[str, Any] = {
        "scale": "sequential",
        "low": 0,
        "high": 1,
        "log": False,
        "title": "L3H7",
        "caption": "embedded",
    }
    return map_svg(VALUES, row_labels=labels, col_labels=labels, **options)


def mounted(page, data):
    page.set_content(shim.page((SOURCE, data)))
    page.wait_for_function("window.ready")
    return page.locator(".save-picture button")


def test_the_payload_carries_the_picture_and_its_name():
    meta, _ = unpacked(SavePicture(svg="<svg/>", filename="a.png", label="PNG", failed="no").packed())
    assert meta == {"svg": "<svg/>", "filename": "a.png", "label": "PNG", "failed": "no"}


@pytest.mark.browser
def test_the_png_is_the_svg_at_twice_its_size(page):
    button = mounted(page, SavePicture(svg=svg(), filename="attention-L3H7.png", label="PNG").packed())
    assert button.inner_text() == "PNG"
    with page.expect_download() as waiting:
        button.click()
    assert waiting.value.suggested_filename == "attention-L3H7.png"
    picture = Image.open(waiting.value.path())
    width, height = (float(svg().split(f'{name}="')[1].split('"')[0]) for name in ("width", "height"))
    assert picture.format == "PNG"
    assert (picture.width, picture.height) == (2 * round(width), 2 * round(height))
    pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    for color in sequential(VALUES).reshape(-1, 4)[:, :3]:
        assert (pixels == color).all(axis=1).sum() > 1000, color  # a cell of 26 units is 2704 pixels


@pytest.mark.browser
def test_a_new_picture_replaces_the_old_one(page):
    button = mounted(page, SavePicture(svg="broken", filename="old.png", label="old").packed())
    data = SavePicture(svg=svg(), filename="new.png", label="new").packed()
    answer(page, data)
    with page.expect_download() as waiting:
        button.click()
    assert button.inner_text() == "new"
    assert waiting.value.suggested_filename == "new.png"


@pytest.mark.browser
def test_a_picture_that_cannot_be_drawn_says_so(page):
    mounted(
        page, SavePicture(svg="<svg", filename="a.png", label="PNG", failed="Could not <b>draw</b>.").packed()
    ).click()
    note = page.locator(".save-picture [role=status]")
    note.wait_for()
    assert note.inner_text() == "Could not <b>draw</b>."
