"""Logging without user texts and paths, one line per event.

Errors are logged by type and location, never by message.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hosting.redaction import HIDDEN, PATH
from hosting.settings import Log

HOME = Path(__file__).resolve().parents[1]
DEEPEST = 4  # frames in our own files that are named
TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.DOTALL)  # uvicorn (0.54) logs one as a message
OURS = logging.getLogger("atlas")  # the server's own logger
# For libraries, set before they are imported: no progress bars, no loading reports, no warnings with source lines.
QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "PYTHONWARNINGS": "ignore",
}


def use_log(log: Log) -> None:
    """Format every record of this process as one line, whichever handler writes it.

    Streamlit (1.67) and uvicorn install handlers and formats of their own, some of them late, so the handlers'
    formatter is replaced and not the handlers.
    """
    form = OneLine(json_lines=log.format == "json")
    logging.Handler.format = lambda self, record: form.format(record)
    logging.disable(logging.getLevelNamesMapping()[log.level.upper()] - 1)
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.StreamHandler())
    OURS.setLevel(logging.INFO)
    keep_texts_out()
    sys.excepthook = _excepted
    threading.excepthook = _excepted_in_thread
    sys.unraisablehook = _not_raised


class OneLine(logging.Formatter):
    """Formats time (UTC), level, logger and message, as a line of text or a JSON object."""

    def __init__(self, *, json_lines: bool) -> None:
        super().__init__()
        self._json = json_lines

    def format(self, record: logging.LogRecord) -> str:
        """Format a record without line breaks and paths."""
        words = TRACEBACK.sub(_kind, record.getMessage())
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            words = f"{words.replace(str(error) or chr(0), HIDDEN)} ({where(error)})"
        words = PATH.sub(HIDDEN, " ".join(words.split()))
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        level = record.levelname.lower()
        if self._json:
            told = {"time": moment, "level": level, "logger": record.name, "message": words}
            return json.dumps(told, ensure_ascii=False)
        return f"{moment} {level} {record.name}: {words}"


def keep_texts_out() -> None:
    """Remove exception messages from all records of this process, since they may quote user input."""
    make = logging.getLogRecordFactory()

    def made(*args: Any, **more: Any) -> logging.LogRecord:
        record = make(*args, **more)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            words = record.getMessage().replace(str(error) or "\0", HIDDEN)
            record.msg, record.args = f"{words} ({where(error)})", None
            record.exc_info, record.exc_text = None, None
        return record

    logging.setLogRecordFactory(made)


def where(error: BaseException) -> str:
    """An error's type and its innermost frames in our files, as in "KeyError at pages/heads/page.py:12"."""
    places = [
        f"{Path(frame.filename).relative_to(HOME)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(HOME) and ".venv" not in Path(frame.filename).parts
    ]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-DEEPEST:])) or 'a place in a library'}"


def _kind(trace: re.Match[str]) -> str:
    """The error type of a formatted traceback, without code lines and without the message."""
    last = [line for line in trace[0].splitlines() if line.strip() and not line.startswith((" ", "|", "+"))][-1]
    return last.split(":")[0]


def _excepted(_kind: type[BaseException], error: BaseException, _trace: object) -> None:
    OURS.critical("The server ends: %s", where(error))


def _excepted_in_thread(given: threading.ExceptHookArgs) -> None:
    if given.exc_value is not None and not isinstance(given.exc_value, SystemExit):
        OURS.error("A thread ended: %s", where(given.exc_value))


def _not_raised(given: Any) -> None:
    OURS.error("An error could not be raised: %s", where(given.exc_value))
