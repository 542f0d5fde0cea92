"""What a reader must never see, at any URL or with any text, including the tables and files that a page offers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

import pandas as pd
from streamlit.testing.v1 import AppTest

from analysis.number_text import plain_number
from pages.entries import ENTRIES
from tests.ui.driving import open_app
from tests.ui.taken import taken
from ui.shared import export_bundle
from ui.shared.export_bundle import ExportBundle
from ui.shell.page import PageContext


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
        with _menus_open():
            app = open_app(page=page, checked=False, **address)
        found = _exceptions(app)
        return [*found, *with_heard.said] or _exceptions(open_app(page=page, checked=False, **app.query_params))
    finally:
        logging.getLogger().removeHandler(with_heard)


def tracebacks_of(text: str, number: int) -> list[str]:
    """Of a page, in turn, opened with this text."""
    return tracebacks_at(ENTRIES[number % len(ENTRIES)].file, {"text": text})


@contextmanager
def _menus_open() -> Generator[None]:
    """All that stands in the two menus of a page's head is made with the page; no reader opens them here."""
    with (
        patch.object(export_bundle, "show_tables", _make_tables),
        patch.object(export_bundle, "show_file_menu", _make_files),
    ):
        yield


def _make_tables(tables: Callable[[], dict[str, pd.DataFrame]], _covered: str) -> None:
    for table in tables().values():
        table.map(plain_number)


def _make_files(opened: PageContext, shown: ExportBundle) -> None:
    offered = taken(opened, shown)
    compile(offered.snippet, "snippet", "exec")
    for make in (offered.page, offered.table, offered.numbers, *shown.files.values()):
        make()


def _exceptions(app: AppTest) -> list[str]:
    return [f"{element.message}\n{''.join(element.stack_trace)}" for element in app.exception]
