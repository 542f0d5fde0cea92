"""The lines that a snippet begins with: run as a user would, they make the same capture."""

from __future__ import annotations

from typing import Any

import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.edits import Blocked, KeepLast
from model_runner.python_lines import python_start
from model_runner.rotation_edit import ScaledTheta


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"text": 'it\'s "quoted" {x}\n\\n 北京 😀'},
        {"continuation": (5, 7)},
        {"edits": (KeepLast(2, sinks=1), Blocked(((2, 1),), (3,)), ScaledTheta(0.5))},
    ],
    ids=str,
)
def test_the_capture_of_the_lines_is_of_the_same_request(given: dict[str, Any]):
    held = load_runner().capture(CaptureRequest(**{"text": "The dog"} | given))
    names: dict[str, Any] = {}
    exec(python_start(held.request), names)
    assert names["capture"].request == held.request


def test_a_chat_is_read_as_one():
    assert "text='The dog', chat=True" in python_start(CaptureRequest("The dog", chat=True))


def test_the_dtype_of_the_numbers_is_loaded() -> None:
    lines = python_start(CaptureRequest("The dog", model="owner/name", dtype="bfloat16"))
    assert "\nrunner = load_runner('owner/name', dtype='bfloat16')\n" in lines


def test_the_version_that_was_asked_for_is_loaded() -> None:
    assert "\nrunner = load_runner('owner/name')\n" in python_start(CaptureRequest("The dog", model="owner/name"))
    lines = python_start(CaptureRequest("The dog", model="owner/name", revision="v1.0"))
    assert "\nrunner = load_runner('owner/name', revision='v1.0')\n" in lines
