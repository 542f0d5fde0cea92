"""The frame of every page: sidebar, title and the places that the page fills. Painted before any engine is imported."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from ui import session
from ui.components import mount
from ui.examples import EXAMPLES, WELL_KNOWN_MODELS
from ui.i18n import KEY as LANGUAGE_KEY
from ui.i18n import _, language, languages, settle_language
from ui.inputs import choose, give, holding
from viz.components.theme_switch import theme_switch

N_ = str  # marks a text for Babel without translating it here
STYLE = Path(__file__).with_name("frame.css")


@dataclass(frozen=True)
class Entry:
    """One page of the navigation."""

    file: str
    address: str
    section: str
    name: str
    title: str
    subtitle: str


ENTRIES = (
    Entry(
        "pages/heads.py", "", N_("Explore"), N_("Heads"),
        N_("Who looks at whom?"), N_("every head of every layer, on your text"),
    ),
    Entry(
        "pages/cell.py", "cell", N_("Explore"), N_("Inside a cell"),
        N_("Where does one number come from?"), N_("one query, one key, step by step"),
    ),
    Entry(
        "pages/positions.py", "positions", N_("Explore"), N_("Positions"),
        N_("How does it know where?"), N_("queries and keys are turned"),
    ),
    Entry(
        "pages/next_token.py", "next_token", N_("Generate"), N_("Next token"),
        N_("What comes next?"), N_("the whole distribution, and one draw"),
    ),
    Entry(
        "pages/film.py", "film", N_("Generate"), N_("Generation film"),
        N_("How does a text come about?"), N_("token by token"),
    ),
    Entry(
        "pages/kv_cache.py", "kv_cache", N_("Generate"), N_("KV cache"),
        N_("What does the cache save?"), N_("keys and values, kept"),
    ),
    Entry(
        "pages/masks.py", "masks", N_("Change it"), N_("Masks"),
        N_("What if it saw less?"), N_("patterns, their cost, and this model under them"),
    ),
    Entry(
        "pages/sharing.py", "sharing", N_("Change it"), N_("Sharing heads"),
        N_("Who shares what?"), N_("keys and values for several heads"),
    ),
    Entry(
        "pages/edit_heads.py", "edit_heads", N_("Change it"), N_("Edit heads"),
        N_("What does a head do?"), N_("change it, and compare"),
    ),
)  # fmt: skip  # one page a paragraph


def navigation() -> Page:
    """The page the address asks for."""
    session.begin()
    settle_language()
    pages = [
        st.Page(entry.file, title=_(entry.name), url_path=entry.address or None, default=not entry.address)
        for entry in ENTRIES
    ]
    return st.navigation(pages, position="hidden")


def begin_with_frame() -> None:
    """Before a page imports the engine: whoever came to its file without the frame goes through app.py first.

    Streamlit (1.67) runs the files of a folder named pages by themselves until st.navigation was called once: so it
    greets who opens a fresh server at a page's own address.
    """
    if not session.slots().pop("drawn", False):
        navigation()
        st.rerun()


def draw_frame(page: Page) -> None:
    """Sidebar and head of the page."""
    entry = next(entry for entry in ENTRIES if entry.address == page.url_path)
    st.html(STYLE)
    with st.sidebar:
        _sidebar()
    with st.container(key="page_head", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<h1 class='atlas-title'>{_(entry.title)} <span>{_(entry.subtitle)}</span></h1>", width="stretch")
        slots = session.slots()
        for name in ("badge", "read", "tables", "take"):
            slots[name] = st.container(key=f"slot_{name}", width="content")
    slots["status"] = st.empty()
    slots["drawn"] = True  # until the page takes it, see begin_with_frame
    if "torch" not in sys.modules:
        slots["status"].progress(0.0, text=_("Starting the engine …"))


def _sidebar() -> None:
    promise = _("see how a transformer attends")
    st.html(f"<div class='atlas-name'>Attention Atlas<span>{promise}</span></div>")
    _model_box()
    _text_box()
    section = ""
    with st.container(key="navigation", gap=None):
        for entry in ENTRIES:
            if entry.section != section:
                section = entry.section
                st.html(f"<div class='atlas-section'>{_(section)}</div>")
            st.page_link(entry.file, label=_(entry.name), query_params=session.address_parts())
    with st.container(key="sidebar_foot", horizontal=True, vertical_alignment="center"):
        choose(_("Language"), LANGUAGE_KEY, languages())
        words = {name: _(text) for name, text in theme_switch.TEXTS.items()}
        paths = [f"/{entry.address}" for entry in ENTRIES]
        mount(theme_switch.SOURCE, theme_switch.payload(paths=paths, texts=words, lang=language()), key="theme", on={})


def _model_box() -> None:
    names = [session.DEFAULT_MODEL, *WELL_KNOWN_MODELS]
    if session.model() not in names:
        names.insert(1, session.model())
    embedded = _("Embedded small Llama")  # not translated in format_func, which Streamlit may call outside a run
    key = holding("model_box", session.model())
    st.selectbox(
        _("Model"),
        names,
        names.index(session.model()),
        key=key,
        format_func=lambda name: embedded if name == session.DEFAULT_MODEL else name,
        accept_new_options=True,
        help=_("Type any hub id (owner/name) or the path of a local folder. Only then is anything downloaded."),
        on_change=lambda: session.set_model((st.session_state[key] or session.DEFAULT_MODEL).strip()),
    )


def _text_box() -> None:
    key = holding("text_box", session.text())
    st.text_area(
        _("Text"),
        session.text(),
        key=key,
        height=112,
        placeholder=_("Type a sentence"),
        help=_("Ctrl+Enter shows it."),
        on_change=lambda: session.set_text(st.session_state[key]),
    )
    if session.continuation() or session.chat():
        _beside_the_text()
    if session.carried():
        _changed_model()
    with st.container(key="examples", horizontal=True, gap="small"):
        for number, example in enumerate(EXAMPLES):
            st.button(
                _(example.topic), key=f"example_{number}", type="tertiary", on_click=_use_example, args=(example.text,)
            )


def _beside_the_text() -> None:
    """What every page reads besides the text itself, and the way to drop it."""
    with st.container(key="beside_text", horizontal=True, vertical_alignment="center", gap="small"):
        count = len(session.continuation())
        parts = [_("+ {count} generated tokens").format(count=count)] if count else []
        parts += [_("in the chat template")] if session.chat() else []
        st.html(f"<p class='atlas-caption'>{' · '.join(parts)}</p>", width="content")
        st.button(_("drop"), key="drop_continuation", type="tertiary", on_click=_text_alone)


def _changed_model() -> None:
    """That the pages show a model changed by edits of heads, and the way back to the model itself."""
    with st.container(key="beside_model", horizontal=True, vertical_alignment="center", gap="small"):
        count = session.carried().count(";") + 1
        words = _("changed by {count} edits").format(count=count) if count > 1 else _("changed by 1 edit")
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
        st.button(_("undo"), key="drop_edits", type="tertiary", on_click=session.carry, args=(False,))


def _text_alone() -> None:
    session.continue_with(())
    session.choose("chat", "0", "0")


def _use_example(text: str) -> None:
    give("text_box", text)  # what was typed and not yet asked for is told in the same run, and must not win
    session.set_text(text)
