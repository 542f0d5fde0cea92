"""The frame of every page: sidebar, title and the slots that the page fills. Painted before the engine is imported."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from analysis.examples import Example, examples_offered
from hosting.listed import devices, dtypes, listed_models
from ui.shell.components import mount, sent_arrays, show_page
from ui.shell.engine import engine_is_up, import_engine
from ui.shell.first_picture import show_first_picture
from ui.shell.models_offered import LOADED_AS, good_for, labelled, offered
from ui.shell.tokenizer_card import choose_languages, show_card
from ui.state import session, text_in_url, url_state
from ui.state.controls import choose, switch
from ui.state.frame_slots import FrameSlots, frame_slots, set_frame_slots
from ui.state.inputs import choose_one, draw_run_number, on_change, pick_one, set_value, widget_key
from ui.state.kept_click import button
from ui.state.known_tokenizers import languages as languages_of
from ui.state.page_state import change
from ui.state.run_context import begin_run_context
from ui.state.selection import ModelOptions, Selection
from ui.state.session_sound import listens, own_sound
from ui.state.session_value import SessionValue
from ui.state.url_values import options_of
from ui.wording import url_warnings
from ui.wording.adapter_words import in_words
from ui.wording.i18n import KEY as LANGUAGE_KEY
from ui.wording.i18n import _, language, languages, settle_language
from ui.wording.model_name import CUT
from ui.wording.sentences import sentence
from viz.components.glossary import glossary
from viz.components.served import FOLDER, SERVED
from viz.components.theme_switch import theme_switch
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here
ROOT = Path(__file__).parents[2]
STYLE = Path(__file__).with_name("frame.css")


@dataclass(frozen=True)
class Entry:
    """A page of the navigation."""

    file: str
    address: str
    section: str
    name: str
    title: str
    subtitle: str
    plain: bool = False  # starts with the unedited model, even if edits apply to every page

    @property
    def path(self) -> Path:
        """Absolute path; Streamlit resolves a relative one from its script's folder."""
        return ROOT / self.file


def navigation(entries: Sequence[Entry]) -> Page:
    """Return the page that the URL names."""
    session.begin()
    settle_language()
    pages = [
        st.Page(entry.path, title=_(entry.name), url_path=entry.address or None, default=not entry.address)
        for entry in entries
    ]
    MISSING_PAGE.set(_missing(entries))
    page = st.navigation(pages, position="hidden")
    session.begin_on(page.url_path)
    return page


def _missing(entries: Sequence[Entry]) -> str:
    """Return the page name in the URL if there is no such page, else an empty string; the first page is then shown.

    Streamlit (1.67) would report it in an English dialog, so the request is changed to the first page.
    """
    context = get_script_run_ctx(suppress_warning=True)
    name = "" if context is None else context.pages_manager.intended_page_name or ""
    if context is None or not name or name in {entry.address for entry in entries}:
        return ""
    context.pages_manager.set_script_intent("", "")
    return name


@dataclass(frozen=True)
class SidebarPlaces:
    """Sidebar elements that may be drawn after the page; ``linked`` are the URL parameters in its links."""

    links: DeltaGenerator
    linked: dict[str, str]
    tokenizer: DeltaGenerator


MISSING_PAGE = SessionValue("missing_page", str)  # a page name in the URL that does not exist
SIDEBAR_SHOWS = SessionValue[tuple[object, ...]]("sidebar_shows", tuple)  # what the current sidebar was made from
AGAIN = SessionValue("again", bool)  # the page has been rerun after its model was evicted


@dataclass(frozen=True)
class PageExtras:
    """What accompanies every page: parts of the sidebar, and the function that runs the page or something instead."""

    beside: Callable[[], None]
    around: Callable[[Entry, Callable[[], None]], None]
    sound: Callable[[], None]  # replaces the text box for audio models
    translate: Callable[[str], None]  # callback that changes the language to this one
    covers: Callable[[], bool] = lambda: False  # True if nothing of the page may be shown before ``around`` decides


def run_framed(page: Page, entries: Sequence[Entry], guest: PageExtras) -> None:
    """Run the page in its frame. An unchanged sidebar is drawn last, so that a click in the page is answered first."""
    entry = next(entry for entry in entries if entry.address == page.url_path)
    show_page(entry.path)
    _draw_head(entry)
    shows, met = _sidebar_shows(page), _met()
    stands = SIDEBAR_SHOWS.take() == shows
    sidebar = None if stands else _sidebar(entries, guest)
    stored = not guest.covers() and show_first_picture(entry.address)
    sent = sent_arrays()
    import_engine(session.text, lambda: sent.reached)  # reading the session lets a newer run take over
    if stored:
        session.warm_up()
        st.rerun()
    from model_runner.errors import Cancelled, RunnerError  # torch is imported only after the frame is painted

    try:
        with suppress(StopException):  # a page that stops with an error sentence keeps its sidebar
            guest.around(entry, page.run)
    except Cancelled as error:  # the model was evicted: load it again, once
        if not AGAIN.take():  # a run that is being left ends here
            AGAIN.set(True)
            st.rerun()
        st.warning(plain(sentence(error)))
    except RunnerError as error:  # a model server failed
        st.warning(plain(sentence(error)))
    AGAIN.set(False)
    frame_slots().draw_last()
    if _met() != met:  # properties that only a loaded model has
        st.rerun()
    if sidebar is None:
        sidebar = _sidebar(entries, guest)
    elif sidebar.linked != url_state.parts():  # only if needed: a click on a link that is being replaced can be lost
        _draw_links(entries, sidebar.links)
    with sidebar.tokenizer.container():
        show_card()
    SIDEBAR_SHOWS.set(shows)
    draw_run_number()


@functools.cache
def _style() -> str:
    """Return the style sheet without its comments."""
    return re.sub(r"/\*.*?\*/", "", STYLE.read_text(encoding="utf-8"), flags=re.DOTALL)


@functools.cache
def chart_script() -> str:
    """Return the file name of the script with which Streamlit (1.67) draws Plotly charts; empty unless exactly one
    matches.
    """
    found = [one.name for one in (Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")]
    return found[0] if len(found) == 1 else ""


def _sidebar_shows(page: Page) -> tuple[object, ...]:
    about = session.model(), session.text(), *_met(), own_sound()
    return page.url_path, language(), *about, session.model_options(), session.edits_on_all_pages()


def _met() -> tuple[object, ...]:
    """Return what the sidebar shows of the open model that is only known once it is loaded."""
    model = session.model()
    return listens(model), session.adapter(model), languages_of(model)


def _draw_head(entry: Entry) -> None:
    begin_run_context()
    if not sent_arrays().reached:  # otherwise the style is loaded by URL, see theme_switch.js
        st.html(f"<style>{_style()}</style>")
    with st.container(key="page_head", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<h1 class='atlas-title'>{_(entry.title)} <span>{_(entry.subtitle)}</span></h1>", width="stretch")
        menus = [st.container(key=f"slot_{name}", width="content") for name in ("badge", "read", "tables", "take")]
    strip = st.container(key="slot_model_strip")  # has the same height before the model is loaded
    slots = FrameSlots(*menus, strip=strip, status=st.empty(), stop=st.empty(), preview=st.empty())
    set_frame_slots(slots)
    url_warnings.begin(st.empty())
    if missing := MISSING_PAGE.get():
        words = _("There is no page “{name}”: this is {page}.")
        url_warnings.tell(Selection.SCOPE, words.format(name=missing, page=_(entry.name)))
    if not engine_is_up():
        slots.status.progress(0.0, text=_("Starting the engine …"))


def _sidebar(entries: Sequence[Entry], guest: PageExtras) -> SidebarPlaces:
    with st.sidebar, st.container():  # changes in it do not move what is below: tests/pages/test_browser_twice.py
        promise = _("see how a transformer attends")
        st.html(f"<div class='atlas-name'>Attention Atlas<span>{promise}</span></div>")
        guest.beside()
        _model_box()
        _adapter_card()
        hears = listens(session.model())
        if languages_of(session.model()) and not hears:
            choose_languages()
        guest.sound() if hears else _text_box()
        if session.continuation() or session.chat():
            _beside_the_text()
        if session.edits_on_all_pages():
            _changed_model()
        if not hears:
            _examples()
    with st.sidebar:
        with st.container(key="navigation", gap=None):
            links, linked = st.empty(), url_state.parts()
            _draw_links(entries, links)
        with st.container(key="sidebar_foot", horizontal=True, vertical_alignment="center"):
            choose_one(_("Language"), f"choice_{LANGUAGE_KEY}", languages(), language(), guest.translate)
            words = {name: _(text) for name, text in theme_switch.TEXTS.items()}
            base = url_state.base()
            data = theme_switch.ThemeSwitchPicture(
                paths=[f"{base}/{entry.address}" for entry in entries],
                texts=words,
                lang=language(),
                reach=theme_switch.Reach(
                    ticket=sent_arrays().ticket,
                    base=base,
                    style=f"{FOLDER}/{SERVED.add('frame', _style(), 'css')}",
                ),
                charts=chart_script(),
            ).packed()
            mount(theme_switch.SOURCE, data, key="theme", on={"run": lambda _told: None}, followed=False)
            if not listed_models():
                _loaded_as()
            return SidebarPlaces(links, linked, tokenizer=st.empty())


def show_glossary() -> None:
    """Mount the glossary, which lists the terms and explains them where they occur."""
    words = {name: _(text) for name, text in glossary.TEXTS.items()}
    data = glossary.GlossaryPicture(terms=glossary.terms_in(_), texts=words).packed()
    mount(glossary.SOURCE, data, key="glossary", on={}, narrow=True, followed=False)


def _draw_links(entries: Sequence[Entry], place: DeltaGenerator) -> None:
    """Draw links to every page, with the current URL parameters."""
    section, parts = "", url_state.parts()
    with place.container(gap=None):
        for entry in entries:
            if entry.section != section:
                section = entry.section
                st.html(f"<div class='atlas-section'>{_(section)}</div>")
            st.page_link(entry.path, label=_(entry.name), query_params=parts)


def _model_box() -> None:
    listed = listed_models()
    names = offered(listed, session.model())
    others = (
        _("The models that this server shows.")
        if listed
        else _("Type any hub id (owner/name, owner/name@version) or a folder’s path. Only then is anything downloaded.")
    )
    pick_one(
        _("Model"),
        "model_box",
        labelled(names, _),
        session.model(),
        session.set_model,
        # an old tab may send a label that begins with this mark
        typed=None if listed else lambda name: None if name.startswith(CUT) else session.set_model(name),
        help="\n".join([*good_for(names, _), "", others]),
        hidden=False,
    )


def _adapter_card() -> None:
    """Show a model's base, its adapter, and the switch that applies the adapter on every page."""
    info = session.adapter(session.model())
    if info is None:
        return
    with st.container(key="adapter_card", gap=None):
        words = escape(in_words(info, session.model(), _))
        st.html(f"<p class='atlas-caption'>{words}</p>")
        switch(ModelOptions, "adapter", session.model_options().adapter, _("with the adapter"))


def _loaded_as() -> None:
    """Choose device and dtype; "auto" picks what fits the machine."""
    held = session.model_options()
    with st.popover(_("device"), type="tertiary", key="loaded_as"):
        for name in ("device", "dtype"):
            st.html(f"<p class='atlas-caption'>{_(LOADED_AS[name])}</p>")
            offered = {"auto", *(devices() if name == "device" else dtypes())}
            there = {
                option: option for option in options_of(ModelOptions, name) if option in {*offered, getattr(held, name)}
            }
            choose(ModelOptions, name, getattr(held, name), there)


def _text_box() -> None:
    key = "text_box"
    first = key not in st.session_state
    shown = st.text_area(
        _("Text"),
        session.text(),
        key=key if first else widget_key(key, session.text()),
        height=80,
        placeholder=_("Type a sentence"),
        help=_("Ctrl+Enter shows it."),
        on_change=on_change(key, session.set_text),
    )
    if first:  # after a server restart the browser still shows its own text, including what was typed since
        session.set_text(shown)
    if not text_in_url.parts_of(session.text()):
        words = _("This text is too long to fit in the link; sharing or reloading will lose it.")
        st.html(f"<p class='atlas-caption'>{words}</p>")


def _examples() -> None:
    examples = examples_offered(session.model(), language(), offered(listed_models(), session.model()))
    with st.container(key="examples", horizontal=True, gap="small"):
        for number, example in enumerate(examples):
            button(example.topic, key=f"example_{number}", type="tertiary", on_click=_use_example, args=(example,))


def _beside_the_text() -> None:
    """Show what every page appends to the text (generated tokens, chat template), and a button to drop it."""
    with st.container(key="beside_text", horizontal=True, vertical_alignment="center", gap="small"):
        count = len(session.continuation())
        words = _("+ {count} generated tokens") if count > 1 else _("+ 1 generated token")
        parts = [words.format(count=count)] if count else []
        parts += [_("in the chat template")] if session.chat() else []
        st.html(f"<p class='atlas-caption'>{' · '.join(parts)}</p>", width="content")
        button(_("drop"), key="drop_continuation", type="tertiary", on_click=_text_alone)


def _changed_model() -> None:
    """Show that edits of the model apply to all pages, and the way back to the unedited model."""
    with st.container(key="beside_model", horizontal=True, vertical_alignment="center", gap="small"):
        count = session.edits_on_all_pages().count(";") + 1
        words = _("changed by {count} edits").format(count=count) if count > 1 else _("changed by 1 edit")
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
        button(_("undo"), key="drop_edits", type="tertiary", on_click=session.apply_to_all_pages, args=(False,))


def _text_alone() -> None:
    session.continue_with(())
    change(ModelOptions, chat=False)


def _use_example(example: Example) -> None:
    set_value(
        "text_box", example.text
    )  # text typed but not submitted arrives in the same run and must not override this
    if example.model:
        session.set_model(example.model)
        name = plain(labelled([example.model], _)[example.model])  # as the box of models has it
        st.toast(_("Now with the model “{name}”, which has examples of its own.").format(name=name))
    session.open_example(example.text)
