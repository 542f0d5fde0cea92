"""Figures for a paper: the requested width, readable text, embedded fonts, and a record of their origin."""

from __future__ import annotations

import io
import re
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from viz.components.head_map import head_map
from viz.drawn_maps_svg import drawn_maps_svg
from viz.paper import INCHES, LEAST, NoTypesetter, fits, on_paper, pdf_bytes, png_bytes, room_of

WORDS = ["⟨bos⟩", "The", "·dog", "·狗", "·chased", "·它们"]


def payload(n: int, selected: tuple[int, int | None] | None = None) -> bytes:
    values = np.tril(np.ones((n, n), np.float32)) / np.arange(1, n + 1)[:, None].astype(np.float32)
    values[np.triu_indices(n, 1)] = np.nan
    labels = [WORDS[i % len(WORDS)] for i in range(n)]
    return head_map.HeadMapPicture(
        values=values, window=(0, n, 0, n), total=(n, n), row_labels=labels, col_labels=labels, scale="sequential",
        low=0.0, high=1.0, log=False, selected=selected, pool=(1, 1), number="percent",
        texts=head_map.texts_of("weights", mean=False) | {"summary": "", "note": ""},
    ).packed()  # fmt: skip


def figure(n: int, size: str, selected: tuple[int, int | None] | None = None) -> str:
    return drawn_maps_svg(payload(n, selected), title="L6H4", caption="of a model", room=room_of(size))


def inflated(pdf: bytes) -> bytes:
    """The file with all that it has compressed."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    found = [pdf]
    for stream in streams:
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return b"\n".join(found)


@pytest.mark.parametrize("size", INCHES)
@pytest.mark.parametrize("n", [1, 6, 24, 60, 700])
def test_a_map_is_as_wide_as_the_column_and_no_text_is_below_7_points(n: int, size: str):
    svg = on_paper(figure(n, size), size)
    width, units = re.search(r' width="([\d.]+)in" height="[\d.]+in" viewBox="0 0 ([\d.]+) ', svg).groups()
    assert float(width) == INCHES[size]
    points = 72 * INCHES[size] / float(units)
    sizes = [float(one) for one in re.findall(r"font(?:-size)?:(\d+)px", svg)]
    assert min(sizes) * points >= LEAST - 1e-9
    assert "of a model</text>" not in svg
    assert "<desc>of a model</desc>" in svg
    assert 'fill="#ffffff"' in svg


def test_what_would_be_too_small_is_refused_with_its_points():
    wide = drawn_maps_svg({f"L0H{head}": payload(30) for head in range(6)}, title="Six", caption="")
    assert not fits(wide, "column")
    with pytest.raises(ValueError, match=r"At 3.3 inches its text would have [0-3]\.\d points; it needs 7"):
        on_paper(wide, "column")


def test_what_is_pinned_is_framed_as_on_the_screen():
    assert figure(6, "page").count('class="pinned"') == 0
    assert figure(6, "page", (4, None)).count('class="pinned"') == 1
    framed = figure(6, "page", (4, 2))
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*class="pinned"', framed)
    (row, column) = [tuple(map(float, box)) for box in boxes]
    cell = row[3]
    assert row[2] == pytest.approx(6 * cell)
    assert column[3] == pytest.approx(6 * cell)
    assert (row[1] - column[1], column[0] - row[0]) == pytest.approx((4 * cell, 2 * cell), abs=0.01)


def test_a_pdf_has_its_fonts_and_says_what_it_is_of():
    svg = drawn_maps_svg(payload(6), title="“it” looks at 狗", caption="default · float32 · L6H4", room=room_of("page"))
    pdf = pdf_bytes(on_paper(svg, "page"))
    assert pdf.startswith(b"%PDF-")
    whole = inflated(pdf)
    used, embedded = len(re.findall(rb"/Type ?/FontDescriptor", whole)), len(re.findall(rb"/FontFile[23]?\b", whole))
    assert used >= 2, "Latin words and Chinese ones"
    assert embedded == used
    assert "default · float32 · L6H4" in whole.decode("utf-8", "ignore") + whole.decode("utf-16-be", "ignore")
    box = re.search(rb"/MediaBox ?\[ ?0 0 ([\d.]+)", whole)
    assert float(box[1]) == pytest.approx(72 * 6.9, abs=0.5)


def test_a_picture_has_300_pixels_an_inch():
    with Image.open(io.BytesIO(png_bytes(on_paper(figure(6, "column"), "column")))) as picture:
        assert picture.width == pytest.approx(300 * 3.3, abs=2)
        assert picture.getpixel((2, 2))[:3] == (255, 255, 255)
        assert (picture.info["Title"], picture.info["Description"]) == ("L6H4", "of a model")
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_without_the_typesetter_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(NoTypesetter, match=r'Run: pip install "attention-atlas\[pdf\]"'):
        pdf_bytes(figure(6, "page"))
