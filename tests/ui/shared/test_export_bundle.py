"""Exports match the screen: the files and the Python lines contain the same numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime
from html import escape
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote_plus
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import transformers
from PIL import Image

import attention_atlas
from model_runner import CaptureRequest
from model_runner.edits import KeepLast
from tests.ui.driving import open_app, payload
from tests.ui.taken import Taken, offers, ran
from ui.shared import export_bundle
from ui.shared.export_bundle import caption, csv_of
from viz.token_text import lone_spaces

READINGS = [
    {},
    {"what": "scores"},
    {"what": "value", "nofirst": "1"},
    {"unit": "words", "text": "The unhappiest squirrelologist chased it"},
    {"other": "L2H1", "layer": "3", "head": "7"},
    {"window": "1-4-0-3"},
    {"model": "translator", "text": "The wolf loves Mary."},
    {"model": "translator", "text": "The wolf loves Mary.", "attention": "encoder", "unit": "words"},
    {"text": 'it\'s "quoted" {x}\n\\n </script> 北京 😀 \x00\u202e'},
]


@pytest.fixture(name="taken")
def offered(monkeypatch) -> list[Taken]:
    return offers(monkeypatch)


@pytest.mark.parametrize("address", READINGS, ids=str)
def test_the_lines_of_python_give_the_array_of_the_file(taken, address):
    open_app(**address)
    names = ran(taken[-1].snippet)
    np.testing.assert_array_equal(names["values"], taken[-1].arrays["values"])


@pytest.mark.parametrize("address", READINGS, ids=str)
def test_the_file_holds_the_numbers_and_labels_on_the_screen(taken, address):
    app = open_app(**address)
    meta, shown = payload(app, "head_map")
    file = taken[-1].arrays
    np.testing.assert_array_equal(file["values"], shown["values"])
    # a file holds the tokens' own text; the screen has a sign of its own for a token that is a space alone
    assert [lone_spaces(label) for label in file["queries"]] == meta["row_labels"]
    assert [lone_spaces(label) for label in file["keys"]] == meta["col_labels"]


def test_the_table_holds_the_same_numbers(taken):
    open_app(layer="3", head="7")
    take = taken[-1]
    lines = [line for line in take.csv.splitlines() if not line.startswith("#")]
    rows = [[float(cell) if cell else np.nan for cell in row[1:]] for row in list(csv.reader(lines))[1:]]
    # nine digits are written, which restores a float32
    np.testing.assert_array_equal(np.array(rows, np.float32), take.arrays["values"])


@pytest.mark.parametrize(
    "address, words",
    [
        ({}, "weights after softmax · "),
        ({"what": "scores", "nofirst": "1", "unit": "words"}, "scores before softmax · "),
        ({"what": "value", "nofirst": "1"}, "weight × ‖v‖, first token hidden, rows renormalised · "),
        (
            {"unit": "words", "other": "L2H1"},
            "weights after softmax, words: keys summed, queries averaged, minus L2H1 · ",
        ),
    ],
    ids=str,
)
def test_every_file_says_what_its_numbers_are(taken, address, words):
    open_app(layer="3", head="7", **address)
    said = f"default · llama · float32 · L3H7 · {words}"
    take = taken[-1]
    assert str(take.arrays["caption"]).startswith(said)
    assert take.csv.startswith(f"# {said}")
    assert said in take.html
    assert said in " ".join(" ".join(ElementTree.fromstring(take.svg).itertext()).split())


def test_a_table_that_is_one_of_several_says_which_it_is():
    tables = {name: pd.DataFrame([[1.0]], ["row"], ["column"]) for name in ("by head", "by layer")}
    view = SimpleNamespace(tables=lambda: tables, rows=None)
    assert csv_of(cast(Any, view), "words").decode("utf-8-sig").startswith("# words · here: by head, of 2 tables that")
    view.rows = lambda: tables["by layer"]
    assert csv_of(cast(Any, view), "words").decode("utf-8-sig").startswith("# words\r\n")
    alone = SimpleNamespace(tables=lambda: {"a": tables["by head"]}, rows=None)
    assert csv_of(cast(Any, alone), "words").decode("utf-8-sig").startswith("# words\r\n")


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a page is, without one."""
    monkeypatch.setattr(export_bundle, "_address", lambda: "/heads?text=a")
    return "/heads?text=a"


def test_a_revision_is_part_of_what_a_file_says(address):
    info = SimpleNamespace(
        name="owner/name", revision="abc123", family="llama", dtype="bfloat16", adapter=None, weights="0123456789ab"
    )
    capture = SimpleNamespace(request=CaptureRequest(text="a"))
    opened = SimpleNamespace(runner=SimpleNamespace(info=info), capture=capture, layer=1, head=2)
    what, made, opens = caption(opened, "weights").splitlines()
    assert what == "owner/name @ abc123 · llama · bfloat16 · L1H2 · weights · “a”"
    versions = f"transformers {transformers.__version__} · torch {version('torch')}"
    today = datetime.now().astimezone().date().isoformat()
    assert made == f"Attention Atlas {attention_atlas.__version__} · {today} · {versions} · weights 0123456789ab"
    assert opens == address


@pytest.mark.usefixtures("address")
def test_edits_are_part_of_what_a_file_says():
    info = SimpleNamespace(name="default", revision=None, family="llama", dtype="float32", adapter=None, weights="")
    request = CaptureRequest(text="The dog", model="default", edits=(KeepLast(2, sinks=1),))
    capture = SimpleNamespace(request=request)
    opened = SimpleNamespace(runner=SimpleNamespace(info=info), capture=capture, layer=1, head=2)
    assert "weights · changed: a cache of the first 1 and last 2 · " in caption(opened, "weights")


def test_files_are_named_for_the_head(taken):
    open_app(layer="3", head="7")
    assert taken[-1].name == "attention-L3H7"


def test_a_comparison_has_both_heads_in_its_file_and_a_name_of_its_own(taken):
    open_app(layer="3", head="7", other="L2H1")
    take = taken[-1]
    assert take.name == "attention-L3H7-minus-L2H1"
    one, two = (take.arrays[name] for name in ("L3H7", "L2H1"))
    np.testing.assert_array_equal(take.arrays["values"], one - two)
    open_app(layer="2", head="1")
    np.testing.assert_array_equal(taken[-1].arrays["values"], two)


def test_a_token_that_looks_like_markup_is_text_in_every_file(taken):
    text = "<img src=x onerror=hacked=1>"
    open_app(text=text)
    take = taken[-1]
    labels = take.arrays["queries"].tolist()
    drawn = ElementTree.fromstring(take.svg)
    assert {element.tag.rpartition("}")[2] for element in drawn.iter()}.isdisjoint(
        {"script", "img", "a", "foreignObject"}
    )
    attributes = [item for element in drawn.iter() for item in element.attrib.items()]
    assert [name for name, _ in attributes if name.startswith("on")] == []
    links = [value for name, value in attributes if name.endswith("href")]
    assert all(link.startswith(("data:image/png;base64,", "#")) for link in links)
    isolates = {0x2068: None, 0x2069: None}  # around every label, so that none reorders its neighbours
    assert set(labels) <= {"".join(element.itertext()).translate(isolates) for element in drawn.iter()}
    assert "onerror" not in take.html.replace(escape(text), "").replace(quote_plus(text), "")  # which the caption says


def test_the_closed_menu_makes_no_file():
    app = open_app()
    assert len(app.get("download_button")) == 0
    assert "save_picture" not in [element.proto.component_name for element in app.get("bidi_component")]


def test_a_figure_for_a_column_and_its_pdf_are_as_wide_as_chosen(monkeypatch: pytest.MonkeyPatch):
    made: dict[str, Callable[[], bytes]] = {}
    offer = export_bundle._file
    monkeypatch.setattr(
        export_bundle, "_file", lambda label, *more: (made.update({label: more[0]}), offer(label, *more))
    )
    app = open_app()
    app.session_state["take_away"] = True  # the menu is open
    app.run()
    files = {one.proto.label: one for one in app.get("download_button")}
    assert list(files)[:2] == ["SVG", "PDF"]
    assert app.selectbox(key="take_size").options == [
        "as on the screen", "one column (3.3 in)", "two columns (6.9 in)", "slide (12 in)",
    ]  # fmt: skip
    assert 'class="pinned"' in payload(app, "save_picture")[0]["svg"]
    app.selectbox(key="take_size").select("column").run()
    assert [one.proto.label for one in app.get("download_button")][:3] == ["PNG", "SVG", "PDF"]
    with Image.open(io.BytesIO(made["PNG"]())) as picture:
        assert picture.width == pytest.approx(990, abs=2)
    assert b' width="3.3in"' in made["SVG"]()
