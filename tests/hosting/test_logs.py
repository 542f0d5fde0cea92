"""The log format: one line per event, without file paths and without text quoted in errors."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import pytest

from hosting.logs import OneLine

SECRET = "My grandmother's name is Quokka"


def record(words: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("streamlit", logging.WARNING, __file__, 1, words, arguments, exc_info)


def failed() -> BaseException:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        return error


@pytest.mark.parametrize("json_lines", [False, True])
def test_an_event_is_one_line_without_paths_and_quotes(json_lines):
    form = OneLine(json_lines=json_lines)
    said = form.format(record("Cannot read %s\n  because of\n\t%s", "/srv/models/a/b.json", failed(), error=failed()))
    assert said.count("\n") == 0
    assert "/srv" not in said
    assert SECRET not in said
    assert "Cannot read … because of … (KeyError at tests/hosting/test_logs.py:" in said


def test_a_line_of_json_has_the_moment_the_level_who_and_what():
    told = json.loads(OneLine(json_lines=True).format(record("句子 %s", "“a”\u2028b")))
    assert (told["level"], told["logger"], told["message"]) == ("warning", "streamlit", "句子 “a” b")
    moment = datetime.fromisoformat(told["time"])
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 60


def test_a_line_of_text_says_the_same():
    moment, level, who, words = OneLine(json_lines=False).format(record("ready")).split(" ", 3)
    assert (level, who, words) == ("warning", "streamlit:", "ready")
    assert datetime.fromisoformat(moment).tzinfo is not None


def test_of_a_traceback_that_is_a_message_the_kind_is_left():
    trace = f'Traceback (most recent call last):\n  File "/a/b.py", line 6\n    open("{SECRET}")\nOSError: {SECRET}\n'
    assert OneLine(json_lines=False).format(record(trace)).endswith("streamlit: OSError")
    group = f"Traceback (most recent call last):\n  | ValueError: {SECRET}\nExceptionGroup: {SECRET} (1 sub-exception)"
    assert OneLine(json_lines=False).format(record(group)).endswith("streamlit: ExceptionGroup")
