"""Room codes: how they are generated and parsed."""

from __future__ import annotations

import pytest

from classroom import desk as desks
from classroom.codes import ALPHABET, LENGTH, code_of, new_key, normalized
from classroom.desk import RoomDesk
from classroom.frames import Refused
from classroom.qr import qr_picture


def test_no_two_letters_of_codes_are_read_as_each_other():
    assert len(ALPHABET) == len(set(ALPHABET)) == 25
    for pair in ("0O", "1I", "1L", "2Z", "5S", "8B"):
        assert not set(pair) & set(ALPHABET)


def test_codes_differ_and_are_codes():
    codes = {code_of(new_key()) for _ in range(12)}  # slow on purpose
    assert len(codes) == 12
    assert all(normalized(code) == code for code in codes)


@pytest.mark.parametrize("typed", ["", "ACDEF", "ACDEFGH", "ACDEF0", "ACDEF!", "A" * 1000, "ＡＣＤＥＦＧ"])
def test_what_can_be_no_code_is_none(typed):
    assert normalized(typed) is None


def test_a_key_gives_the_same_code_for_ever():
    """Or a teacher would not find the room again on a server that was brought up to date meanwhile."""
    assert [code_of("a key that a browser kept") for _ in range(2)] == ["XJW4HF"] * 2


def test_a_server_has_room_for_so_many_and_places_become_free(monkeypatch):
    monkeypatch.setattr(desks, "MOST_ROOMS", 5)
    desk = RoomDesk()
    rooms = [desk.open() for _ in range(5)]
    assert len({room.code for room in rooms}) == 5
    with pytest.raises(Refused):
        desk.open()
    with pytest.raises(Refused):
        desk.back(new_key())
    rooms[0].end()
    assert len(desk.open().code) == LENGTH


def test_the_picture_of_a_link_is_an_svg_of_our_own():
    assert qr_picture("http://127.0.0.1:8501/join/ACDEFG").startswith("data:image/svg+xml")
