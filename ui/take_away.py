"""Take it away: the picture and its numbers as files, and the lines of Python that give the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from model_runner.edits import Edit
from ui import session
from ui.components import mount
from ui.i18n import _, language
from ui.page import Opened, translated
from viz.components.save_picture import save_picture


@dataclass(frozen=True, eq=False)
class TakeAway:
    """``name`` is the file name without its ending.

    What is costly is made when it is asked for, and then outside the session: it must not look anything up there.
    """

    name: str
    html: Callable[[str], bytes]  # of a language
    csv: Callable[[], bytes]
    npz: Callable[[], bytes]
    snippet: str
    svg: Callable[[], str] | None = None


def show_take_away(take: TakeAway) -> None:
    """The menu in the head of the page; its contents are made once it is open."""
    menu = session.slots()["take"].popover(_("Take it away"), type="tertiary", on_change="rerun", key="take_away")
    if not menu.open:
        return
    with menu:
        with st.container(horizontal=True):
            if take.svg is not None:
                svg = take.svg()
                failed = translated(save_picture.TEXTS)["failed"]
                picture = save_picture.payload(svg=svg, filename=f"{take.name}.png", label="PNG", failed=failed)
                mount(save_picture.SOURCE, picture, key="save_picture", on={}, narrow=True)
                _file("SVG", svg.encode, f"{take.name}.svg", "image/svg+xml")
            _file("HTML", partial(take.html, language()), f"{take.name}.html", "text/html")
            _file("CSV", take.csv, f"{take.name}.csv", "text/csv")
            _file("NPZ", take.npz, f"{take.name}.npz", "application/octet-stream")
        st.caption(_("The HTML opens offline and stays alive. In a notebook, this gives the same numbers:"))
        st.code(take.snippet, language="python")


def _file(label: str, data: Callable[[], bytes], name: str, mime: str) -> None:
    st.download_button(label, data, name, mime, key=f"take_{label}", on_click="ignore")


def caption(opened: Opened, what: str) -> str:
    """What a file must say of itself: model, revision, dtype, head and how the numbers were made."""
    info = opened.runner.info
    model = info.name if info.revision is None else f"{info.name} @ {info.revision}"
    changed = changed_by(opened.capture.request.edits)
    what += f" · {changed}" if changed else ""
    return f"{model} · {info.family} · {info.dtype} · L{opened.layer}H{opened.head} · {what} · Attention Atlas"


def changed_by(edits: Sequence[Edit]) -> str:
    """What a file says of the edits behind its numbers; nothing for the model as it is."""
    return f"changed by {', '.join(map(repr, edits))}" if edits else ""


def python_start(opened: Opened) -> str:
    """The first lines of every snippet."""
    request = opened.capture.request
    given = [f"text={request.text!r}"]
    given += ["chat=True"] if request.chat else []
    given += [f"continuation={request.continuation!r}"] if request.continuation else []
    given += [f"edits={request.edits!r}"] if request.edits else []
    return (
        "from model_runner import CaptureRequest, load_runner\n" + imports_of(request.edits) + "\n"
        f"runner = load_runner({request.model!r})\n"
        f"capture = runner.capture(CaptureRequest({', '.join(given)}))\n"
    )


def imports_of(edits: Sequence[Edit]) -> str:
    """The lines that a snippet with these edits begins with."""
    kinds = sorted({(type(edit).__module__, type(edit).__name__) for edit in edits})
    return "".join(f"from {module} import {name}\n" for module, name in kinds)
