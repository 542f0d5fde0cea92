"""What is taken away is what was on the screen: the files and the lines of Python hold the same numbers."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from model_runner import CaptureRequest
from model_runner.edits import KeepLast
from tests.ui.driving import no_failure, open_app, payload
from ui import head_export
from ui.take_away import TakeAway, caption, python_start

READINGS = [
    {},
    {"what": "scores"},
    {"what": "value", "nofirst": "1"},
    {"unit": "words", "text": "The unhappiest squirrelologist chased it"},
    {"other": "L2H1", "layer": "3", "head": "7"},
    {"window": "1-4-0-3"},
    {"text": 'it\'s "quoted" {x}\n\\n </script> 北京 😀 \x00\u202e'},
]


@dataclass
class Taken:
    """One offer of a page. Its files are made when asked for, as a download is: outside the session."""

    offer: TakeAway
    svg: str

    @property
    def name(self) -> str:
        return self.offer.name

    @property
    def snippet(self) -> str:
        return self.offer.snippet

    @property
    def html(self) -> str:
        return self.offer.html("en").decode("utf-8")

    @property
    def csv(self) -> str:
        return self.offer.csv().decode("utf-8-sig")

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return dict(np.load(io.BytesIO(self.offer.npz()), allow_pickle=False))


@pytest.fixture
def taken(monkeypatch):
    """Everything the page offered to take away, in order."""
    offered = []

    def take(offer: TakeAway) -> None:
        assert offer.svg is not None
        offered.append(Taken(offer, offer.svg()))

    monkeypatch.setattr(head_export, "show_take_away", take)
    return offered


@pytest.mark.parametrize("address", READINGS, ids=str)
def test_the_lines_of_python_give_the_array_of_the_file(taken, address):
    no_failure(open_app(**address))
    names: dict[str, Any] = {}
    exec(taken[-1].snippet, names)
    np.testing.assert_array_equal(names["values"], taken[-1].arrays["values"])


@pytest.mark.parametrize("address", READINGS, ids=str)
def test_the_file_holds_the_numbers_and_labels_on_the_screen(taken, address):
    app = open_app(**address)
    meta, shown = payload(app, "head_map")
    file = taken[-1].arrays
    np.testing.assert_array_equal(file["values"], shown["values"])
    assert file["queries"].tolist() == meta["row_labels"]
    assert file["keys"].tolist() == meta["col_labels"]


@pytest.mark.parametrize("address", [{}, {"window": "1-4-0-3"}], ids=str)
def test_the_shorter_line_of_python_gives_the_same_weights(taken, address):
    open_app(layer="3", head="7", **address)
    names: dict[str, Any] = {}
    exec(taken[-1].snippet, names)
    short = re.search(r"in plain torch: (.*)", taken[-1].snippet)
    weights = eval(short[1], names).numpy()
    drawn = ~np.isnan(names["values"])
    np.testing.assert_array_equal(weights[drawn], names["values"][drawn])
    assert (weights[~drawn] == 0).all()  # what is masked on the screen has no weight


@pytest.mark.parametrize("address", READINGS[1:5], ids=str)
def test_the_shorter_line_is_offered_only_where_it_is_true(taken, address):
    open_app(**address)
    assert "capture.weights" not in taken[-1].snippet


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


def test_a_revision_is_part_of_what_a_file_says():
    info = SimpleNamespace(name="owner/name", revision="abc123", family="llama", dtype="bfloat16")
    capture = SimpleNamespace(request=CaptureRequest(text="a"))
    opened = SimpleNamespace(runner=SimpleNamespace(info=info), capture=capture, layer=1, head=2)
    assert caption(opened, "weights") == "owner/name @ abc123 · llama · bfloat16 · L1H2 · weights · Attention Atlas"


def test_edits_are_part_of_what_a_file_says_and_of_its_snippet():
    info = SimpleNamespace(name="default", revision=None, family="llama", dtype="float32")
    request = CaptureRequest(text="The dog", model="default", edits=(KeepLast(2, sinks=1),))
    capture = SimpleNamespace(request=request)
    opened = SimpleNamespace(runner=SimpleNamespace(info=info), capture=capture, layer=1, head=2)
    assert "changed by KeepLast(window=2, sinks=1)" in caption(opened, "weights")
    names: dict[str, Any] = {}
    exec(python_start(opened), names)  # what a reader would do with it
    assert names["capture"].request.edits == request.edits


def test_files_are_named_for_the_head(taken):
    open_app(layer="3", head="7")
    assert taken[-1].name == "attention-L3H7"


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
    assert "onerror" not in take.html


def test_the_closed_menu_makes_no_file():
    app = open_app()
    assert len(app.get("download_button")) == 0
    assert "save_picture" not in [element.proto.component_name for element in app.get("bidi_component")]
