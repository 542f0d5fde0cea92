"""A log without texts: of an error its kind and where it happened, and never what its message quotes."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]
DEEPEST = 4  # places in our own files that are named


def keep_texts_out() -> None:
    """From now on no record of this process has an exception with its message, which may quote what somebody typed."""
    make = logging.getLogRecordFactory()

    def made(*args: Any, **more: Any) -> logging.LogRecord:
        record = make(*args, **more)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            words = record.getMessage().replace(str(error) or "\0", "…")
            record.msg, record.args = f"{words} ({where(error)})", None
            record.exc_info, record.exc_text = None, None
        return record

    logging.setLogRecordFactory(made)


def where(error: BaseException) -> str:
    """The kind of an error and the innermost of our own places, as in "KeyError at pages/heads/page.py:12"."""
    places = [
        f"{Path(frame.filename).relative_to(HOME)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(HOME) and ".venv" not in Path(frame.filename).parts
    ]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-DEEPEST:])) or 'a place in a library'}"
