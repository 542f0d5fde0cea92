"""What a page exports: its name, how the numbers were made, and the tables and files that hold them."""

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
    """``tables`` is called on export: heading → labelled numbers. The first is the CSV, all are in the NPZ.

    ``page`` (of title, caption and language) returns the standalone HTML and ``picture`` (of title and caption) the
    SVG; ``fitted`` also takes a width in the file's units and lays the picture out for a paper's column. ``code`` is
    Python that gives the same numbers; if ``starts_with_capture``, it follows the lines that make the page's capture.
    ``rows`` is the CSV if that is not the first table; ``arrays`` are added to the NPZ, and may be a function if they
    are costly. ``files`` are further files by name; ``opened`` is what the files describe if that is a changed model
    and not what the page opened.
    """

    name: str  # file name without extension
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
    of_text: bool = True  # False: made of other numbers, whatever the text


def show_export_menu(opened: PageContext, view: ExportBundle, covered: str = "") -> None:
    """Show the page's two export menus: tables, unless ``covered`` says why they are hidden, and files."""
    run_context().of_text = view.of_text
    show_tables(lambda: dict(view.tables()), covered)
    show_file_menu(view.opened or opened, view)


def show_file_menu(opened: PageContext, view: ExportBundle) -> None:
    """Show the menu of files; its contents are made when it opens.

    Costly files are made on download, outside the session: making them must not read the session. Words are in the
    language of the run that offered the file.
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
    """The picture at the chosen size, among the sizes at which its text is legible."""
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
    """The description that a file carries; ``head`` overrides the open head's name."""
    said = said_of(opened.runner.info, opened.capture.request, head or f"L{opened.layer}H{opened.head}", what)
    return f"{said}\n{opened_by(opened.runner.info, _address())}"


def _address() -> str:
    """The URL of this page and its selection, without the app's base path."""
    page = Path(urlsplit(st.context.url or "").path).name
    return f"/{page}?{urlencode(url_state.parts())}"


def snippet_of(opened: PageContext, view: ExportBundle) -> str:
    """The complete Python snippet."""
    return capture_lines(opened.capture) + view.code if view.starts_with_capture else view.code


def csv_of(view: ExportBundle, words: str) -> bytes:
    """The bundle's ``rows``, or its first table."""
    table, more = as_csv(view.tables(), view.rows)
    what, *made = words.splitlines()
    said = "\n".join([what + more, *made])
    return csv_bytes(table.to_numpy(np.float64), [*map(str, table.index)], [*map(str, table.columns)], said)


def npz_of(view: ExportBundle, words: str) -> bytes:
    """The bundle's arrays, and every table as its numbers and the names of its rows and columns."""
    return npz_bytes({**arrays_of(view), **table_arrays(view.tables().values())}, words)


def arrays_of(view: ExportBundle) -> Arrays:
    """The arrays that the NPZ holds beside the tables."""
    return view.arrays() if callable(view.arrays) else view.arrays


def component_page(source: Source, payload: bytes | Mapping[str, bytes]) -> Callable[[str, str, str], bytes]:
    """Return a function that makes the standalone page of one component, or of several side by side under their
    headings.
    """
    return lambda title, words, language: standalone_html(source, payload, title=title, caption=words, lang=language)
