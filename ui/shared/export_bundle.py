"""A view of a page as data: what it is called, how its numbers were made, and the tables and files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pandas as pd
import streamlit as st

from analysis.tables import as_csv, table_arrays
from ui.shared.tables import show_tables
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import url_state
from ui.state.frame_slots import frame_slots
from ui.state.inputs import pick_one
from ui.state.run_context import run_context
from ui.state.session_value import SessionValue
from ui.wording.i18n import _, in_this_language, language
from ui.wording.provenance import capture_lines, opened_by, said_of
from viz.components.save_picture import save_picture
from viz.components.source import Source
from viz.export import csv_bytes, npz_bytes, standalone_html
from viz.paper import INCHES, LABELS, fits, on_paper, pdf_bytes, png_bytes, room_of

Arrays = Mapping[str, np.ndarray]

SCREEN = "screen"
_SIZE = SessionValue("picture_size", lambda: SCREEN)


@dataclass(frozen=True, eq=False)
class ExportBundle:
    """``tables`` are made when asked for: heading → numbers with names; the first is the CSV, all are in the NPZ.

    ``page`` (of title, caption and language) is the standalone HTML, ``picture`` (of title and caption) the SVG;
    ``fitted`` (of a width besides, in units of the file) the same laid out anew for the column of a paper.
    ``code`` are Python lines that give the same numbers, after those that make the page's capture if it
    ``starts_with_capture``; ``rows`` are the CSV where that is not the first table; ``arrays`` goes into the NPZ
    beside the tables, and is made when asked for if that is costly. ``files`` are more of them, by name; ``opened``:
    what all of them are of, where that is not what the page opened, but a changed model.
    """

    name: str  # of its files, without an ending
    title: str
    what: str  # how the numbers were made, for captions
    tables: Callable[[], Mapping[str, pd.DataFrame]]
    page: Callable[[str, str, str], bytes]
    code: str
    starts_with_capture: bool = True
    rows: Callable[[], pd.DataFrame] | None = None
    picture: Callable[[str, str], str] | None = None
    fitted: Callable[[str, str, float], str] | None = None
    arrays: Arrays | Callable[[], Arrays] = field(default_factory=dict[str, np.ndarray])
    files: Mapping[str, Callable[[], bytes]] = field(default_factory=dict[str, Callable[[], bytes]])
    opened: PageContext | None = None
    of_text: bool = True  # not: made of other numbers, whatever the text is


def show_export_menu(opened: PageContext, view: ExportBundle, covered: str = "") -> None:
    """The two menus in the head of the page: the numbers as tables, unless ``covered`` says why not; all as files."""
    run_context().of_text = view.of_text
    show_tables(lambda: dict(view.tables()), covered)
    show_file_menu(view.opened or opened, view)


def show_file_menu(opened: PageContext, view: ExportBundle) -> None:
    """The menu of files; its contents are made once it is open.

    What is costly is made when it is asked for, and then outside the session: it must not look anything up there but
    words, which are in the language of the run that offered it.
    """
    menu = frame_slots().take.popover(_("Export"), type="tertiary", on_change="rerun", key="take_away")
    if not menu.open:
        return
    words = caption(opened, view.what)
    with menu:
        svg = _sized(view, words)
        with st.container(horizontal=True):
            if svg:
                if _SIZE.get() == SCREEN:
                    failed = translated(save_picture.TEXTS)["failed"]
                    picture = save_picture.SavePicture(
                        svg=svg, filename=f"{view.name}.png", label="PNG", failed=failed
                    ).packed()
                    mount(save_picture.SOURCE, picture, key="save_picture", on={}, narrow=True, followed=False)
                else:
                    _file("PNG", partial(png_bytes, svg), f"{view.name}.png", "image/png")
                _file("SVG", svg.encode, f"{view.name}.svg", "image/svg+xml")
                _file("PDF", partial(pdf_bytes, svg), f"{view.name}.pdf", "application/pdf")
            _file("HTML", partial(view.page, view.title, words, language()), f"{view.name}.html", "text/html")
            _file("CSV", partial(csv_of, view, words), f"{view.name}.csv", "text/csv")
            _file("NPZ", partial(npz_of, view, words), f"{view.name}.npz", "application/octet-stream")
            for name, make in view.files.items():
                _file(name, make, name, "application/octet-stream")
        st.caption(_("The HTML opens offline and stays interactive. In a notebook, this gives the same numbers:"))
        st.code(snippet_of(opened, view), language="python")


def _sized(view: ExportBundle, words: str) -> str:
    """The picture as large as was chosen here, of the sizes at which its text can be read."""
    if view.picture is None:
        return ""
    drawn = view.picture(view.title, words)
    legible = [size for size in INCHES if view.fitted is not None or fits(drawn, size)]
    sizes = {SCREEN: _("as on the screen")} | {size: _(LABELS[size]) for size in legible}
    size = _SIZE.get() if _SIZE.get() in sizes else SCREEN
    pick_one(_("Size of the picture"), "take_size", sizes, size, _SIZE.set, width=220, hidden=False)
    if size == SCREEN:
        return drawn
    return on_paper(drawn if view.fitted is None else view.fitted(view.title, words, room_of(size)), size)


def _file(label: str, data: Callable[[], bytes], name: str, mime: str) -> None:
    st.download_button(label, in_this_language(data), name, mime, key=f"take_{label}", on_click="ignore")


def caption(opened: PageContext, what: str, head: str = "") -> str:
    """What a file says of itself; ``head``: not the open one's name."""
    said = said_of(opened.runner.info, opened.capture.request, head or f"L{opened.layer}H{opened.head}", what)
    return f"{said}\n{opened_by(opened.runner.info, _address())}"


def _address() -> str:
    """Of this page with all that the session looks at, below whatever name the app has."""
    page = Path(urlsplit(st.context.url or "").path).name
    return f"/{page}?{urlencode(url_state.parts())}"


def snippet_of(opened: PageContext, view: ExportBundle) -> str:
    """The whole lines of Python."""
    return capture_lines(opened.capture) + view.code if view.starts_with_capture else view.code


def csv_of(view: ExportBundle, words: str) -> bytes:
    """Its rows, or its first table."""
    table, more = as_csv(view.tables(), view.rows)
    what, *made = words.splitlines()
    said = "\n".join([what + more, *made])
    return csv_bytes(table.to_numpy(np.float64), [*map(str, table.index)], [*map(str, table.columns)], said)


def npz_of(view: ExportBundle, words: str) -> bytes:
    """Its arrays, and every table as its numbers and the names of its rows and columns."""
    return npz_bytes({**arrays_of(view), **table_arrays(view.tables().values())}, words)


def arrays_of(view: ExportBundle) -> Arrays:
    """What the NPZ holds beside the tables."""
    return view.arrays() if callable(view.arrays) else view.arrays


def component_page(source: Source, payload: bytes | Mapping[str, bytes]) -> Callable[[str, str, str], bytes]:
    """The standalone page of one component, or of several by their headings, side by side."""
    return lambda title, words, language: standalone_html(source, payload, title=title, caption=words, lang=language)
