"""Every file of every view can be made in both languages, when it is asked for: after the run that offered it."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from model_runner import CaptureRequest
from pages.entries import ENTRIES
from tests.analysis.made import embedded
from tests.pages.shown import complete
from tests.ui.driving import components, open_app, payload
from ui.wording.i18n import LANGUAGES

VIEWS = [
    ("heads", {}),
    ("heads", {"other": "L2H1", "layer": "3", "head": "7"}),
    ("cell", {}),
    *(
        ("positions", {"positions": view})
        for view in ("rotation", "difference", "frequencies", "distance", "what_if", "others")
    ),
    *(
        ("positions", {"positions.view": "sinusoid", "positions.sine": sine})
        for sine in ("table", "turn", "terms", "shuffled")
    ),
    *(("compare", {"compare.view": view}) for view in ("maps", "metrics", "next", "tokens")),
    *(("long_texts", {"long_texts.view": view}) for view in ("map", "heads", "curves", "needle")),
    ("next_token", {}),
    ("next_token", {"compare": "1"}),
    ("film", {"length": "2"}),
    *(("kv_cache", {"kv": view}) for view in ("race", "bytes", "what_if")),
    *(("masks", {"masks": view}) for view in ("gallery", "model", "sweep")),
    ("masks", {"mask": "dual_chunk"}),
    *(("sharing", {"sharing": view}) for view in ("model", "counts")),
    *(
        ("block", {"block.view": view})
        for view in ("architecture", "stream", "norms", "ffn", "lens", "learning", "sizes", "streams")
    ),
    ("block", {"block.view": "experts", "block.experts": "random"}),
    ("block", {"block.blocks": "two"}),
    ("edit_heads", {"edits": "ScaledHead(6,5,0.0)"}),
    ("families", {}),
    *(("edit_heads", {"heads": view}) for view in ("effects", "patching")),
    *(("steps", {"steps.source": source}) for source in ("small", "model")),
    *(
        ("steps", {"steps.view": view})
        for view in ("scale", "length", "softmax", "similarity", "others", "gradients", "batch")
    ),
    ("steps", {"steps.view": "similarity", "steps.source": "model"}),
    ("steps", {"steps.view": "batch", "steps.batch": "packing"}),
    ("steps", {"steps.view": "others", "steps.others": "reading"}),
    ("steps", {"steps.view": "softmax", "steps.softmax": "vocabulary", "steps.counted": "book"}),
    *(
        ("steps", {"steps.view": "otherwise", "steps.otherwise": one})
        for one in ("dictionary", "typed", "matrices", "rank")
    ),
    ("zoo", {"zoo.variant": "performer"}),
    ("zoo", {"zoo.view": "flash"}),
    ("zoo", {"zoo.view": "linear", "zoo.linear": "blocks"}),
    ("zoo", {"zoo.view": "cost"}),
    ("zoo", {"zoo.view": "model", "zoo.where": "layer"}),
    ("zoo", {"zoo.view": "hybrid"}),
    ("zoo", {"zoo.view": "weights", "zoo.factors.1": "0"}),
]


@pytest.fixture
def files(monkeypatch) -> dict[str, Any]:
    """What the menu offers: file name → what makes it. Every menu is open."""
    kept: dict[str, Any] = {}
    closed = DeltaGenerator.popover

    def keep(_label: str, data: Any, name: str, _mime: str, **_options: Any) -> None:
        kept[name] = data

    def popover(self: DeltaGenerator, *args: Any, **options: Any) -> Any:
        menu = closed(self, *args, **options)
        menu.open = True
        return menu

    monkeypatch.setattr(st, "download_button", keep)
    monkeypatch.setattr(DeltaGenerator, "popover", popover)
    return kept


FIRST = dict(reversed(VIEWS))  # of each page, in a language that is not the code's; all, in all, by make long
ALL = [(page, address, [*LANGUAGES]) for page, address in VIEWS]


@pytest.mark.parametrize(
    "page, address, languages",
    [
        *(pytest.param(page, address, ["zh"], id=page) for page, address in FIRST.items()),
        *(pytest.param(page, *rest, marks=pytest.mark.long, id=f"{page}-{rest[0]}") for page, *rest in ALL),
    ],
)
def test_every_file_of_a_view_can_be_made_in_both_languages(files, page, address, languages):
    app = complete(open_app(page=f"pages/{page}/page.py", **address))
    for language in languages:
        files.clear()
        app.button_group(key="choice_lang").set_value(language)
        app.run()
        with ThreadPoolExecutor(1) as outside:  # as Streamlit does: no run, no session
            whole = {name: outside.submit(make).result() for name, make in files.items()}
        more = {name: whole.pop(name) for name in [*whole] if name.startswith("all-heads")}
        made = {name.rpartition(".")[2]: content for name, content in whole.items()}
        assert made.keys() >= {"svg", "html", "csv", "npz"}
        assert "save_picture" in components(app)  # the PNG
        read(made, language)
        if page == "heads":
            read_all_heads(app, more)
        *_, snippet = (one.value for one in app.code if one.language == "python")  # after the lines of a page itself
        compile(snippet, "snippet", "exec")


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_a_long_map_is_taken_away_as_its_pixels_are_drawn(files, pooling):
    text = "The dog chased the squirrel because it was hungry. " * 30
    open_app(page="pages/long_texts/page.py", text=text, layer="3", head="5", **{"long_texts.pooling": pooling})
    (make,) = (make for name, make in files.items() if name.endswith(".npz"))
    with ThreadPoolExecutor(1) as outside:
        numbers = np.load(io.BytesIO(outside.submit(make).result()), allow_pickle=False)
    weights = embedded().capture(CaptureRequest(text=text)).weights(3, 5).numpy()
    seen = np.where(np.tri(len(weights), dtype=bool), weights, np.nan)
    side = -(-len(weights) // 256)
    assert side > 1
    of = {"max": np.nanmax, "mean": np.nanmean}[pooling]
    for row, column in ((0, 0), (40, 7), (100, 100), (len(weights) // side - 1, 3)):
        cells = seen[side * row : side * (row + 1), side * column : side * (column + 1)]
        assert numbers["values"][row, column] == pytest.approx(of(cells), rel=1e-4)
    said = {"max": "largest", "mean": "mean"}[pooling]
    last = len(weights) - 1
    assert f"{said} weight of each pixel, queries 0 to {last}, keys 0 to {last}" in str(numbers["caption"])


def read(made: dict[str, bytes], language: str) -> None:
    """Each file is of its kind and says what it is of; the page is in this language."""
    caption = str(np.load(io.BytesIO(made["npz"]), allow_pickle=False)["caption"])
    assert caption.startswith("default · llama · float32 · ")
    assert made["csv"].decode("utf-8-sig").startswith("# default · llama · float32 · ")
    page = made["html"].decode("utf-8").lower()
    assert page.startswith("<!doctype html>")
    assert any(f"<html lang={mark}{language}{mark}" in page for mark in "'\"")
    assert ElementTree.fromstring(made["svg"]).tag.endswith("svg")


def read_all_heads(app: AppTest, more: dict[str, bytes]) -> None:
    """Every head's metrics and thumbnails, as the page has them."""
    _meta, shown = payload(app, "head_grid")
    numbers = np.load(io.BytesIO(more["all-heads.npz"]), allow_pickle=False)
    np.testing.assert_array_equal(numbers["thumbnails"], shown["thumbnails"])
    np.testing.assert_array_equal(numbers["keep"], shown["keep"])
    np.testing.assert_array_equal(numbers["previous"], shown["metric"])
    said, *lines = more["all-heads.csv"].decode("utf-8-sig").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    assert "all heads" in said
    assert "The dog chased the squirrel because it" in said
    header, *rows = csv.reader(lines)
    column = header.index("previous (share)")
    assert [float(row[column]) for row in rows] == pytest.approx(shown["metric"].ravel(), rel=1e-6)
    assert [row[0] for row in rows[6:10]] == ["L0H6", "L0H7", "L1H0", "L1H1"]
    drawn = ElementTree.fromstring(more["all-heads.svg"])
    assert sum(node.tag.endswith("image") for node in drawn.iter()) == len(rows) == shown["metric"].size


def test_every_page_is_looked_at():
    assert {entry.file for entry in ENTRIES} == {f"pages/{page}/page.py" for page, _address in VIEWS}
