"""On the phones of a class figures have the names that the teacher's page gives them, and stand in its order."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from classroom.room import Room
from pages.entries import ENTRIES
from tests.pages.test_browser_axe import VIEWS
from tests.pages.test_class_figures import opened
from viz.components.still import still
from viz.token_text import plain_text

HEAD = "<div class='atlas-head'"
STRIP = "token_strip"
FILES = {entry.address: entry.file for entry in ENTRIES}
EVERY = [
    pytest.param(path, address, id=f"{path or 'heads'}-{number}")
    for path, views in VIEWS.items()
    for number, address in enumerate(views)
]
# What the page writes no heading above: what stands below a map and belongs to it, and what writes its own name.
UNNAMED = {
    "token_lines", "cell_steps", "rotation", "score_shift", "score_split", "score_sweep", "position_schemes", "film",
    "token_tree", "mask_gallery", "head_groups", "sampling_bench", "step_by_step", "model_stages", "family_masks",
    "flash_film", "layer_head_map", "bracketings",
}  # fmt: skip  # a few a line


@dataclass(frozen=True)
class Shown:
    """A figure: its key, what it is called on the phones, and what stands above it on the page."""

    key: str
    component: str
    title: str
    above: str


def on_phones(room: Room) -> list[tuple[dict[str, Any], bytes]]:
    """Head and payload of each figure, in the phones' order."""
    frames = [frame for frame in room.board.since(-1)[1] if isinstance(frame, bytes)]
    found: dict[str, tuple[dict[str, Any], bytes]] = {}
    for frame in frames:
        (length,) = struct.unpack("<I", frame[:4])
        head = json.loads(frame[4 : 4 + length])
        found[head["key"]] = head, zlib.decompress(frame[4 + length :], wbits=31)
    return [found[key] for key in room.board._stage["figures"]]


def on_page(app: AppTest, room: Room) -> list[Shown]:
    """The same figures in the page's order."""
    sent = {head["key"]: (head, payload) for head, payload in on_phones(room)}
    shown: list[Shown] = []
    above = ""
    for node in app.main:
        kind = getattr(node, "type", "")
        key = None
        if kind in ("bidi_component", "plotly_chart"):
            name = node.proto.id
            key = next((key for key in sent if name.endswith((f"-{key}", f"-{key}_growing"))), None)
        elif kind == "html":
            key = next((key for key, (_, payload) in sent.items() if payload == _elements(node.proto.body)), None)
            if key is None and node.proto.body.startswith(HEAD) and node.proto.body.endswith("</div>"):
                above = plain_text(node.proto.body)
        elif kind == "code" and "code_pane" in sent:  # lines that phones have as a table
            key = "code_pane"
        if key is not None:
            head = sent[key][0]
            title = " ".join(filter(None, (head["title"], head["beside"])))
            shown.append(Shown(key, head["component"], title, above))
            above = ""
    return shown


def _elements(html: str) -> bytes | None:
    try:
        return still.still_picture(html).packed()
    except ValueError:
        return None


@pytest.mark.parametrize("path, address", EVERY)
def test_figures_have_on_phones_the_names_that_the_page_writes_above_them_and_pictures_come_first(path, address):
    app, room = opened(page=FILES[path], **dict(parse_qsl(address, keep_blank_values=True)))
    shown = on_page(app, room)
    assert {one.key for one in shown} == set(room.board._stage["figures"])
    for one in shown:
        if one.above:
            title, above = (" ".join(words.split()) for words in (one.title, one.above))
            assert title, one
            assert title.startswith(above) or above.startswith(title), one
    named = [one for one in shown if one.key != STRIP and one.component not in {"still", *UNNAMED}]
    if len(named) > 1:
        assert [one for one in named if not one.title] == []
    order = room.board._stage["figures"]
    for place, picture in enumerate(shown):
        for table in shown[place + 1 :]:
            if table.component == "still" != picture.component:
                assert order.index(picture.key) < order.index(table.key)


@pytest.mark.parametrize(
    "address, of_text",
    [
        ({}, False),
        ({"steps.view": "scale"}, False),
        ({"steps.view": "softmax"}, False),
        ({"steps.view": "similarity"}, False),
        ({"steps.view": "similarity", "steps.source": "model"}, True),
        ({"steps.view": "length"}, True),
        ({"steps.source": "model"}, True),
    ],
)
def test_the_text_stands_on_phones_where_the_numbers_are_of_it_alone(address: dict[str, str], of_text: bool):
    _app, room = opened(page="pages/steps/page.py", text="The king", **address)
    stage = room.board._stage
    assert stage["figures"]
    assert stage["text"] == ("The king" if of_text else "")
    assert stage["caption"] == ""  # a name at the foot would say nothing that the figures do not
