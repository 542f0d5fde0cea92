"""Whatever bytes arrive as a question, the server answers or refuses and continues, without an internal error."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import httpx2
import pytest

from model_runner.errors import UserFacingError
from model_runner.remote.frames import ANSWER, HEAD, VALUE, VERSION, last_frame
from model_runner.request import CaptureRequest
from model_runner.wire import FORMAT, from_bytes, to_bytes
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.every_edit import EVERY_EDIT
from tests.model_runner.test_wire import questions
from tests.served.server import KEY, serving, settings

HEADERS = {"authorization": f"Bearer {KEY}", VERSION: FORMAT}
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**31, 2**63, -(2**70), 1e308, float("nan"), "", "x", "a" * 3000, [], [1, 2], [[[]]], {},
    {"map": [[1, 2]]}, {"tensor": "0"}, {"tensor": "99"}, {"bytes": "0"}, {"text": "0"}, {"numbers": "0"},
    {"part": 0, "shape": [2], "dtype": "float32"}, {"tokens": {}}, {"class": "EndRun", "fields": {"run": "r"}},
    {"class": "CaptureRequest", "fields": {}}, {"class": "Popen", "fields": {}},
    {"error": "EmptyText", "values": {"map": []}},
)  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in this JSON: (what holds it, under what)."""
    for key in range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ():
        found.append((value, key))
        places(value[key], found)
    return found


def mutated(body: bytes, chance: random.Random) -> bytes:
    """One to three values of the question are others, or one to four of its bytes."""
    if chance.random() < 0.3:
        changed = bytearray(body)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed[: chance.choice((len(changed), len(changed), chance.randrange(len(changed))))])
    length = int.from_bytes(body[:8], "little")
    header = json.loads(body[8 : 8 + length])
    plain = json.loads(header["__metadata__"][FORMAT])
    for _ in range(chance.randint(1, 3)):
        where = places(plain, [])
        if not where:
            break
        holder, key = chance.choice(where)
        alike = [one for one in STRANGE if type(one) is type(holder[key])]  # which more often is read
        holder[key] = copy.deepcopy(chance.choice(alike if alike and chance.random() < 0.8 else STRANGE))
    header["__metadata__"][FORMAT] = json.dumps(plain)
    written = json.dumps(header).encode()
    written += b" " * (-len(written) % 8)
    return len(written).to_bytes(8, "little") + written + body[8 + length :]


def bodies(count: int) -> list[bytes]:
    chance = random.Random(7)
    edited = [CaptureRequest(TEXT, edits=(edit,)) for edit in EVERY_EDIT]
    whole = [to_bytes(one) for one in (*questions(), CaptureRequest(TEXT), *edited)]
    return [mutated(chance.choice(whole), chance) for _ in range(count)]


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.timeout(1800)
def test_mutated_questions_are_answered_or_refused(count):
    served = runner_of(FAMILY["llama"])
    kinds = dict.fromkeys(("answered", "refused", "unread"), 0)
    with serving({"llama": served}, settings(seconds=30)) as url, httpx2.Client(headers=HEADERS, timeout=60) as client:
        for body in bodies(count):
            path = "/v1/models/llama/part?rows=1:0:3" if len(body) % 5 == 0 else "/v1/models/llama/ask?form=outline"
            answer = client.post(url + path, content=body)
            assert answer.status_code < 500, body
            if answer.headers["content-type"] == VALUE:
                assert isinstance(from_bytes(answer.content), UserFacingError)
                kinds["unread"] += 1
                continue
            kind, data = last_frame([answer.content], lambda _: None)
            assert len(answer.content) >= HEAD.size + len(data)
            if kind == ANSWER:
                kinds["answered"] += 1
            else:
                assert isinstance(from_bytes(data), UserFacingError)
                kinds["refused"] += 1
        assert from_bytes(client.get(f"{url}/v1/models").content) == ("llama",)
    assert min(kinds.values()) > count // 50, kinds
