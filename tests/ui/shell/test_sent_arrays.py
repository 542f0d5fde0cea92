"""Data that a browser has is not sent again, and the browser restores the payload byte by byte."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from jobs.tile_tickets import TileTickets
from tests.node import run_module
from ui.shell.sent_arrays import MOST, SentArrays
from viz.components.packing import pack

WHOLE = """
import { whole } from "./viz/components/shared/sent.js"
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"))
answer(given.map((one) => Buffer.from(whole(bytes(one))).toString("base64")))
"""


@pytest.fixture
def sent() -> SentArrays:
    sent = SentArrays("/atlas", TileTickets())
    sent.answer("reached", ())
    return sent


def payloads() -> list[bytes]:
    """As a click changes them: the weights are others, the thumbnails are not, and one has no arrays at all."""
    draws = np.random.default_rng(0)
    thumbnails = draws.integers(0, 255, (8, 8, 16, 16), dtype=np.uint8)
    weights = [draws.random((40, 40), dtype=np.float32) for _ in range(2)]
    few = np.arange(3, dtype=np.int32)
    words = {"tokens": [f"token {number}" for number in range(400)]}
    return [
        pack({"selected": 1}, {"thumbnails": thumbnails, "few": few}),
        pack({"of": [0, 0]}, {"few": few, "weights": weights[0]}),
        pack({"selected": 2, "more": "…"}, {"thumbnails": thumbnails, "few": few, "weights": weights[0]}),
        pack({"of": [0, 1]}, {"weights": weights[1], "few": few, "thumbnails": thumbnails}),
        pack(words, {}),
        pack(words, {"few": few}),
        pack({}, {}),
    ]


def test_a_browser_puts_together_every_payload_as_it_was(sent):
    whole = payloads()
    lean = [sent.lean(payload) for payload in whole]
    found = run_module(WHOLE, [base64.b64encode(one).decode() for one in lean])
    assert [base64.b64decode(one) for one in found] == whole
    assert len(lean[2]) < 500  # all of it was there
    assert len(lean[3]) < len(whole[3]) - 16_000  # the thumbnails were
    assert len(sent.lean(whole[4])) < 300  # and long words, which are no array


def test_who_never_asked_is_sent_everything():
    sent = SentArrays("", TileTickets())
    for payload in [*payloads(), *payloads()]:
        assert sent.lean(payload) == payload


def test_a_part_is_answered_by_its_number_as_long_as_it_is_counted_on(sent):
    arrays = [np.full(MOST // 4 // 3, number, np.float32) for number in range(5)]
    for number, array in enumerate(arrays, 1):
        sent.lean(pack({}, {"array": array}))
        assert sent.answer("array", (number,)) == array.tobytes()
    with pytest.raises(LookupError):
        sent.answer("array", (1,))
    payload = pack({}, {"array": arrays[0]})
    assert len(sent.lean(payload)) > len(payload)  # it is sent again, for it could not be asked for


def test_only_the_session_s_own_ticket_is_answered():
    desk = TileTickets()
    sent, other = SentArrays("", desk), SentArrays("", desk)
    assert desk.answer(sent.ticket, "reached")[0] == 200
    sent.lean(pack({}, {"array": np.zeros(4096, np.float32)}))
    assert desk.answer(sent.ticket, "array/1") == (200, bytes(16384))
    assert desk.answer(other.ticket, "array/1")[0] == 404
    assert not other.reached
    sent.close()
    assert desk.answer(sent.ticket, "array/1")[0] == 403
