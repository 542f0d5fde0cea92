"""Codes: what they are made of, and how they are read."""

from __future__ import annotations

import pytest

from classroom.codes import ALPHABET, LENGTH, new_code, normalized
from classroom.desk import MOST_ROOMS, RoomDesk
from classroom.frames import Refused
from classroom.qr import qr_picture


def test_no_two_letters_of_codes_are_read_as_each_other():
    assert len(ALPHABET) == len(set(ALPHABET)) == 25
    for pair in ("0O", "1I", "1L", "2Z", "5S", "8B"):
        assert not set(pair) & set(ALPHABET)


def test_codes_differ_and_are_codes():
    codes = {new_code() for _ in range(1000)}
    assert len(codes) > 990
    assert all(normalized(code) == code for code in codes)


@pytest.mark.parametrize("typed", ["", "ACDEF", "ACDEFGH", "ACDEF0", "ACDEF!", "A" * 1000, "ＡＣＤＥＦＧ"])
def test_what_can_be_no_code_is_none(typed):
    assert normalized(typed) is None


def test_a_server_has_room_for_so_many_and_places_become_free():
    desk = RoomDesk()
    rooms = [desk.open() for _ in range(MOST_ROOMS)]
    assert len({room.code for room in rooms}) == MOST_ROOMS
    with pytest.raises(Refused):
        desk.open()
    rooms[0].end()
    assert len(desk.open().code) == LENGTH


def test_the_picture_of_a_link_is_an_svg_of_our_own():
    assert qr_picture("http://127.0.0.1:8501/join/ACDEFG").startswith("data:image/svg+xml")
