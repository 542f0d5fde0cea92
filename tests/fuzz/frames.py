"""Invalid frames derived from valid ones: of a room's JSON and of Streamlit's messages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.fuzz.made import NUMBERS, PIECES, WORDS, addresses

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, float("inf"), "", "x" * 5000, "\ud800", "<img src=x onerror=alert(1)>", [], {},
    [[]], {"kind": "vote"}, ["a"] * 200, *WORDS, *NUMBERS, *PIECES,
)  # fmt: skip


def of_room(seed: int, count: int, code: str = "AAAAAA", votes: int = 1) -> Iterator[str | bytes]:
    """Text and binary frames of a phone, most of them nearly right. ``votes`` is the round that is asked."""
    chance = random.Random(seed)
    usual: tuple[dict[str, Any], ...] = (
        {"kind": "join", "code": code, "born": "0123456789abcdef"},
        {"kind": "vote", "round": votes, "answer": "1", "name": "Ada"},
        {"kind": "complete", "typed": "do"},
        {"kind": "alive"},
        {"kind": "teach", "code": code, "key": "k" * 43},
        {"kind": "point", "figure": "head", "at": [1, 2]},
        {"kind": "ask", "words": "x"},
        {"kind": "reveal"},
        {"kind": "end"},
    )
    for _ in range(count):
        frame = dict(chance.choice(usual))
        for _ in range(chance.randint(0, 3)):
            name = chance.choice((*frame, "kind", "code", "round", "answer", "name", "typed", "at", "\x00"))
            if chance.random() < 0.2:
                frame.pop(name, None)
            else:
                frame[name] = chance.choice(VALUES)
        text = json.dumps(frame)
        form = chance.random()
        if form < 0.25:
            text = _cut(chance, text)
        elif form < 0.3:
            text = "[" * chance.randint(1, 4000)
        yield text.encode("utf-8", "surrogatepass") if chance.random() < 0.1 else text


def of_stream(seed: int, count: int) -> Iterator[str | bytes]:
    """Streamlit's messages from a browser with bytes of them changed, and some whole ones that say strange things."""
    chance = random.Random(seed)
    places = [parameters for _, parameters in addresses(seed, 50)]
    for number in range(count):
        data = _message(chance, places[number % len(places)]).SerializeToString()
        for _ in range(chance.randint(0, 4)):
            data = _changed(chance, data)
        if chance.random() < 0.05:
            yield data.decode("latin-1")
        else:
            yield chance.randbytes(chance.randint(0, 200)) if chance.random() < 0.1 else data


def _message(chance: random.Random, place: dict[str, str]) -> BackMsg:
    message = BackMsg()
    kind = chance.random()
    if kind < 0.4:
        asked = message.rerun_script
        asked.query_string = urlencode({name: value[:500] for name, value in place.items()})
        asked.page_script_hash = chance.choice(("", "0" * 32, "../../etc/passwd", "<b>"))
        widget = asked.widget_states.widgets.add()
        widget.id = chance.choice(("", "$$ID-1-text", "x" * 2000, "\x00"))
        widget.json_value = chance.choice(("{}", "[", "null", '{"__proto__": 1}'))
        asked.fragment_id = chance.choice(("", "nothing", "0" * 64))
    elif kind < 0.6:
        message.load_git_info = True
    elif kind < 0.7:
        message.clear_cache = True
    elif kind < 0.8:
        message.stop_script = True
    elif kind < 0.9:
        message.debug_disconnect_websocket = chance.random() < 0.3
    else:
        message.debug_shutdown_runtime = False
    return message


def _changed(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    piece = chance.choice((b"", b"\x00", b"\xff" * 9, chance.randbytes(4), data[:20], b"\x80" * 11))
    return data[:at] + piece + data[at + chance.randint(0, 4) :]


def _cut(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return (
        text[:at] + chance.choice(("", '"', "{", "}", "\\u", "\x00", "NaN", text)) + text[at + chance.randint(0, 5) :]
    )
