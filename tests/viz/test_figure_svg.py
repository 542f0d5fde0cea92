"""The SVG of a head map: its pixels are the values, its labels are text, and it needs nothing from outside."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from viz.color import diverging, sequential
from viz.figure_svg import drawn_map, map_svg
from viz.svg import MARGIN, document
from viz.token_text import ems, printable

SVG = "{http://www.w3.org/2000/svg}"
VALUES: NDArray[Any] = np.array([[1.0, np.nan, np.nan], [0.25, 0.75, np.nan], [0.0, 0.5, 0.5]], dtype=np.float32)
ALLOWED = {
    "svg", "title", "desc", "style", "rect", "image", "path", "g", "text", "defs", "linearGradient", "stop", "pattern",
}  # fmt: skip  # by what they draw
LABELS = ["⟨bos⟩", "·the", "·the"]


def figure(values=VALUES, **changes):
    options: dict[str, Any] = {
        "row_labels": LABELS,
        "col_labels": LABELS,
        "scale": "sequential",
        "low": 0.0,
        "high": 1.0,
        "log": False,
        "title": "L3H7",
        "caption": "embedded · float32",
        **changes,
    }
    return ET.fromstring(map_svg(values, **options))


def texts(root):
    return ["".join(node.itertext()).strip("\u2068\u2069") for node in root.iter(f"{SVG}text")]


def cells(root, rows=3, columns=3):
    """The colour in the middle of each cell of the embedded picture."""
    image = root.find(f"{SVG}image")
    picture = Image.open(io.BytesIO(base64.b64decode(image.get("href").removeprefix("data:image/png;base64,"))))
    width, height = picture.width // columns, picture.height // rows
    pixels = np.asarray(picture.convert("RGB"))
    return pixels[height // 2 :: height, width // 2 :: width]


@pytest.mark.parametrize("dark", [False, True])
def test_the_cells_have_the_colours_of_their_values(dark):
    np.testing.assert_array_equal(cells(figure(dark=dark)), sequential(VALUES, dark=dark)[..., :3])


def test_signed_values_are_scaled_by_the_larger_end():
    values = np.array([[-2.0, 0.0, 4.0]])
    root = figure(values, row_labels=["a"], scale="diverging", low=-2.0, high=4.0, number="plain")
    np.testing.assert_array_equal(cells(root, 1, 3)[0], diverging(np.array([-0.5, 0.0, 1.0]))[..., :3])
    assert [text for text in texts(root) if text in ("−4", "0", "4")] == ["−4", "0", "4"]


def test_a_logarithmic_colour_gives_each_decade_an_equal_share():
    values = np.array([[1e-4, 1e-2, 1.0], [1e-9, 0.0, 1e-3]])
    root = figure(values, row_labels=["a", "b"], low=1e-4, log=True)
    expected = sequential(np.array([[0.0, 0.5, 1.0], [0.0, 0.0, 0.25]]))[..., :3]
    # log and its inverse round: a colour may be one step off
    assert np.abs(cells(root, 2, 3).astype(int) - expected.astype(int)).max() <= 1
    assert {"0.01 %", "0.1 %", "1 %", "10 %", "100 %"} <= set(texts(root))


def test_repeated_tokens_keep_a_label_each_at_their_own_place():
    root = figure()
    nodes = [node for node in root.iter(f"{SVG}text") if "·the" in "".join(node.itertext())]
    rows, columns = [
        [node for node in nodes if (node.get("text-anchor") == "middle") == over] for over in (False, True)
    ]
    assert len({node.get("y") for node in rows}) == 2
    assert len({node.get("x") for node in columns}) == 2


def test_only_a_label_wider_than_its_column_is_turned_and_never_chinese():
    root = figure(col_labels=["·it", "小松鼠想玩", "·squirrels"])
    words = {"".join(node.itertext()).strip("\u2068\u2069"): node for node in root.iter(f"{SVG}text")}
    assert words["·it"].get("transform") is None
    assert "rotate" in words["·squirrels"].get("transform")
    letters = list(words["小松鼠想玩"])
    assert [letter.text for letter in letters] == list("小松鼠想玩")
    assert len({letter.get("x") for letter in letters}) == 1
    steps = [float(low.get("y")) - float(high.get("y")) for high, low in pairwise(letters)]
    assert steps == [13] * 4


def test_labels_are_thinned_until_they_do_not_touch():
    n = 100
    root = figure(np.zeros((n, n)), row_labels=[f"r{i}" for i in range(n)], col_labels=[f"c{i}" for i in range(n)])
    heights = [
        float(node.get("y") or 0) for node in root.iter(f"{SVG}text") if "".join(node.itertext()).startswith("\u2068r")
    ]
    assert len(heights) > n / 5
    assert min(np.diff(heights)) >= 12  # the size of the letters


def test_numbers_of_columns_are_thinned_until_each_stands_upright():
    n = 40
    root = figure(np.zeros((n, n)), row_labels=[], col_labels=[str(i) for i in range(n)], side=300)
    labels = [node for node in root.iter(f"{SVG}text") if "".join(node.itertext()).strip("\u2068\u2069").isdigit()]
    assert 10 < len(labels) < n
    places = [float(node.get("x")) for node in labels]
    assert min(np.diff(places)) > max(ems("39") * 12, 12)
    assert [node.get("transform") for node in labels] == [None] * len(labels)


def test_a_title_longer_than_the_figure_is_wide_has_several_lines():
    title = "which token looks at which " * 6
    short, long = (
        ET.fromstring(document(["<rect/>"], width=400, below=100, title=name, caption="it"))
        for name in ("which", title)
    )
    lines = [node for node in long.iter(f"{SVG}text") if node.get("class") == "title"]
    assert len(lines) > 1
    assert " ".join(node.text for node in lines) == " ".join(title.split())
    assert max(ems(node.text) * 15 for node in lines) <= 400 - 2 * MARGIN
    lower = 20 * (len(lines) - 1)
    assert next(long.iter(f"{SVG}g")).get("transform") == f"translate(0 {lower})"
    assert float(long.get("height")) - float(short.get("height")) == lower
    assert max(float(node.get("y")) for node in lines) < lower + 100


def test_a_pooled_picture_needs_no_labels():
    root = figure(np.zeros((256, 256)), row_labels=[], col_labels=[])
    assert "looking (query)" in texts(root)


def test_axes_title_caption_and_masked_are_named():
    found = texts(figure(texts={"masked": "被掩盖"}))
    assert {"L3H7", "looking (query)", "looked at (key)", "embedded · float32", "被掩盖", "100 %"} <= set(found)
    assert "masked" not in texts(figure(np.zeros((3, 3))))


def test_tokens_that_look_like_markup_are_text():
    evil = ["<script>alert(1)</script>", '" onload="alert(1)', "]]>\x00\ud800"]
    root = figure(row_labels=evil, col_labels=evil, title=evil[0], caption="\n".join(evil))
    tags = {node.tag.removeprefix(SVG) for node in root.iter()}
    assert tags <= ALLOWED
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on")]
    assert printable(evil[2]) in texts(root)


def test_nothing_outside_the_file_is_referred_to():
    text = map_svg(
        VALUES, row_labels=LABELS, col_labels=LABELS, scale="sequential", low=0, high=1, log=False, title="", caption=""
    )
    assert set(re.findall(r"\w+://[^\"' ]*", text)) == {"http://www.w3.org/2000/svg"}  # a name, never fetched
    assert re.findall(r"url\(([^)]*)\)", text) == ["#atlas-masked", "#atlas-scale", "#atlas-masked"]


def test_the_figure_is_tall_enough_for_its_caption():
    root = figure(caption="A caption of several lines. " * 20)
    height = float(root.get("height") or 0)
    assert max(float(node.get("y") or 0) for node in root.iter(f"{SVG}text")) < height


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"row_labels": ["a"]}, "1 row labels for 3 rows"),
        ({"col_labels": ["a"]}, "1 column labels for 3 columns"),
        ({"log": True}, "positive low end"),
        ({"log": True, "low": 0.1, "scale": "diverging"}, "sequential"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        figure(**changes)


@pytest.mark.parametrize("most, words", [(999.6, "1,000"), (2345.6, "2,346"), (12.34, "12.3")])
def test_an_end_of_the_scale_is_written_without_a_power_of_ten(most, words):
    drawn = figure(scale="diverging", low=-most, high=most, number="plain")
    assert {words, f"−{words}"} <= set(texts(drawn))


def test_cells_that_were_left_out_have_other_lines_and_a_name_beside_the_masked_ones():
    values = np.array([[0.5, np.nan], [np.nan, 0.2]])
    left_out = np.array([[False, False], [True, False]])
    settings: dict[str, Any] = {
        "row_labels": [],
        "col_labels": [],
        "scale": "sequential",
        "low": 0,
        "high": 1,
        "log": False,
    }
    plain, marked = ("".join(drawn_map(values, left_out=one, **settings).body) for one in (None, left_out))
    assert "not chosen" not in plain
    assert marked.count(">masked<") == marked.count(">not chosen<") == 1
    for kind in ("masked", "left-out"):  # one cell each, and the swatch beside its name
        (cells,) = re.findall(rf'<path d="([^"]*)" fill="url\(#atlas-{kind}\)"', marked)
        assert cells.count("M") == 1
        assert len(re.findall(rf'<rect [^>]*fill="url\(#atlas-{kind}\)"', marked)) == 1
    lines = re.findall(r'<pattern[^>]*>.*?<path d="([^"]*)"', marked)
    assert len(lines) == len(set(lines)) == 2
    everywhere = "".join(drawn_map(values, left_out=np.isnan(values), **settings).body)
    assert ">masked<" not in everywhere


def test_shares_of_two_digits_stand_in_cells_that_have_room():
    values = np.array([[1.0, np.nan, np.nan], [0.094, 0.906, np.nan], [0.25, 0.005, 0.745]])
    assert {"100", "91", "25", "74"} <= set(texts(figure(values, caption="")))
    assert "9" not in texts(figure(values, caption=""))
    many = np.tril(np.full((40, 40), 0.5))
    assert "50" not in texts(figure(many, row_labels=[], col_labels=[], caption=""))
    assert "50" not in texts(figure(np.full((3, 3), 0.5), number="plain", caption=""))
