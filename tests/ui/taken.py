"""What a page gives away, as its reader gets it, without the menu."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ui.i18n import in_this_language
from ui.page import PageContext
from ui.view import View, caption, csv_of, npz_of, snippet_of


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


def taken(opened: PageContext, view: View) -> Taken:
    """In place of the menu: what it would offer; "" for a picture that there is none of."""
    words = caption(opened, view.what)
    return Taken(
        view.name,
        "" if view.picture is None else view.picture(view.title, words),
        snippet_of(opened, view),
        in_this_language(lambda: view.page(view.title, words, "en")),
        in_this_language(lambda: csv_of(view, words)),
        in_this_language(lambda: npz_of(view, words)),
    )
