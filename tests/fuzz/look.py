"""What a reader must never see, at an address or with a text."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from streamlit.testing.v1 import AppTest

from pages.entries import ENTRIES
from tests.ui.driving import open_app


class Heard(logging.Handler):
    """Tracebacks in the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what came with an exception."""
        if record.exc_info is not None and record.exc_info[1] is not None:
            self.said.append(f"{record.name}: {record.exc_info[1]!r}")


def tracebacks_at(page: str, address: Mapping[str, str]) -> list[str]:
    """Of a page opened at this address, and opened again at the one that it wrote."""
    with_heard = Heard()
    logging.getLogger().addHandler(with_heard)
    try:
        app = open_app(page=page, checked=False, **address)
        found = _exceptions(app)
        return [*found, *with_heard.said] or _exceptions(open_app(page=page, checked=False, **app.query_params))
    finally:
        logging.getLogger().removeHandler(with_heard)


def tracebacks_of(text: str, number: int) -> list[str]:
    """Of a page, in turn, opened with this text."""
    return tracebacks_at(ENTRIES[number % len(ENTRIES)].file, {"text": text})


def _exceptions(app: AppTest) -> list[str]:
    return [f"{element.message}\n{''.join(element.stack_trace)}" for element in app.exception]
