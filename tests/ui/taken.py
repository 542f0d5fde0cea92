"""A page's exports as its reader gets them, without the menu."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from ui.shared import export_bundle
from ui.shared.export_bundle import ExportBundle, caption, csv_of, npz_of, snippet_of
from ui.shell.page import PageContext
from ui.wording.i18n import in_this_language


@dataclass(frozen=True)
class Taken:
    """One offer of a page. Its files are made when asked for, as a download is: outside the session."""

    name: str
    svg: str
    snippet: str
    page: Callable[[], bytes]
    table: Callable[[], bytes]
    numbers: Callable[[], bytes]

    @property
    def html(self) -> str:
        return self.page().decode("utf-8")

    @property
    def csv(self) -> str:
        return self.table().decode("utf-8-sig")

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return dict(np.load(io.BytesIO(self.numbers()), allow_pickle=False))


def offers(monkeypatch: pytest.MonkeyPatch) -> list[Taken]:
    """All that pages offer from now on, in order."""
    found: list[Taken] = []
    monkeypatch.setattr(export_bundle, "show_file_menu", lambda opened, shown: found.append(taken(opened, shown)))
    return found


def ran(code: str) -> dict[str, Any]:
    """The names that lines of Python leave. Some switch gradients off, which is for their reader's process alone."""
    names: dict[str, Any] = {}
    with torch.enable_grad():
        exec(compile(code, "snippet", "exec"), names)
    return names


def taken(opened: PageContext, shown: ExportBundle) -> Taken:
    """In place of the menu: what it would offer; "" for a picture that there is none of."""
    words = caption(opened, shown.what)
    return Taken(
        shown.name,
        "" if shown.picture is None else shown.picture(shown.title, words),
        snippet_of(opened, shown),
        in_this_language(lambda: shown.page(shown.title, words, "en")),
        in_this_language(lambda: csv_of(shown, words)),
        in_this_language(lambda: npz_of(shown, words)),
    )
