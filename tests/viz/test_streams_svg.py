"""Columns of nodes: laid out for the room there is, with every name and every node in the picture."""

from __future__ import annotations

import base64
import re

import pytest

from viz.streams_svg import Columns, DrawnLink, columns_html, pitch_for

NAMES = ("⟨bos⟩", "The", "·dog", "·chased", "·the", "·squirrel", "·because", "·it")


def net(count: int = len(NAMES)) -> Columns:
    names = [NAMES[at % len(NAMES)] for at in range(count)]
    links = [DrawnLink(0, 0, count - 1, 0.5, lit=True)]
    return Columns(names, ["embedding", "after L0"], [[True] * count] * 2, links, "→ was 59 %")


def pictures(columns: Columns) -> list[str]:
    found = re.findall(r"base64,([^']+)", columns_html(columns, "a net"))
    return [base64.b64decode(one).decode() for one in found]


@pytest.mark.parametrize("room", [336, 520, 760, 1040])
def test_eight_columns_fit_into_each_room(room: int):
    widths = [int(re.search(r'width="(\d+)"', one)[1]) for one in pictures(net())]
    assert min(abs(room - width) for width in widths if width <= room) < max(60, room * 0.2)


def test_long_names_are_whole_where_there_is_room_and_every_node_is_in_every_picture():
    drawn = pictures(net())
    assert "·squirrel" in drawn[-1]
    assert "…" not in drawn[-1]
    assert "…" not in drawn[0]  # aslant
    for one in drawn:
        assert one.count("<circle") == 2 * len(NAMES)
        width = int(re.search(r'width="(\d+)"', one)[1])
        assert all(float(x) <= width for x in re.findall(r'cx="([\d.]+)"', one))


def test_many_columns_stay_apart_and_are_drawn_once_where_they_are_alike():
    assert pitch_for(336, net(64)) == pitch_for(520, net(64)) == 20
    drawn = re.findall(r"<img class='([^']+)'", columns_html(net(64), "a net"))
    assert " ".join(drawn).split() == ["room-0", "room-1", "room-2", "room-3"]
    assert len(drawn) == 1
