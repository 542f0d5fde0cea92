"""What every page shares: from the session's text to a verified capture, with every failure shown as one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import StopException

from analysis.cell import strongest_key
from analysis.joined import as_square, check_side, first_query, same_tokens, side_of
from analysis.sentences import joined
from analysis.stories import first_head, told_query
from jobs.waiting import await_job
from model_runner import Capture, Runner, RunnerError
from model_runner.adapter import BaseNotAsked
from model_runner.capture import COMPRESSED, index
from model_runner.edit_words import edit_name
from model_runner.edits import Edit, check_cells
from model_runner.errors import (
    Cancelled,
    FolderNotAsked,
    HubNotAsked,
    NoSuchPlace,
    NotVerified,
    OneStackOnly,
    OtherText,
    WrittenFull,
)
from model_runner.preview import ModelPreview
from model_runner.question import Question
from model_runner.rotation_edit import stretch
from ui.shared import cached
from ui.shared.outside_vocabulary import TRANSLATOR, offer_known_text
from ui.shared.strip_shade import Shade, no_shade
from ui.shared.two_texts import choose_attention, choose_keys, write
from ui.shell.components import mount
from ui.shell.model_strip import StripView, show_model_strip
from ui.state import edit_list, session
from ui.state.frame_slots import frame_slots
from ui.state.inputs import in_fragment
from ui.state.kept_click import button
from ui.state.run_context import run_context
from ui.state.url_state import DEFAULT_MODEL
from ui.state.url_state import write as write_address
from ui.wording.check_words import errors, verdict
from ui.wording.i18n import _
from ui.wording.loading_stages import in_words
from ui.wording.preview_words import in_words as will_be
from ui.wording.sentences import number, sentence
from ui.wording.silence_words import silence_words
from viz.components.token_strip import token_strip
from viz.markdown import plain
from viz.token_text import lone_spaces

A = TypeVar("A")
FEW_NAMES = 2  # tensor names that fit on a line


@dataclass(frozen=True, eq=False)
class PageContext:
    """A page's data. ``layer`` has softmax attention; ``query`` and ``key`` are token positions or None.

    ``first`` is the number of the capture's first token in the token strip, if the capture is the second of two texts.
    """

    runner: Runner
    capture: Capture
    layer: int
    head: int
    query: int | None
    key: int | None
    first: int = 0


def open_page(
    *,
    plain_model: bool = False,
    address: bool = True,
    two_texts: bool = False,
    compressed: bool = False,
    strip: StripView | None = StripView(),  # noqa: B008  a frozen value
    instead: str | None = None,
) -> PageContext:
    """Capture the session's text, with the edits that apply to all pages. On failure, show the error and stop the page.

    ``plain_model``: start from the unedited model, because the page compares by itself. ``address=False``: the page
    writes the URL itself once it knows what it shows. ``two_texts``: the page supports encoder-decoder models.
    ``compressed``: it supports keys that each stand for several tokens. ``strip``: the page's declaration for the model
    strip; None if the page shows the strip itself. ``instead``: another text to read; query and key are None, because
    the session's positions do not apply to it.
    """
    run_context().plain_model = plain_model
    edits = () if plain_model or not session.edits_on_all_pages() else edit_list.held()
    with st.container():  # changes in it do not move anything else: see tests/pages/test_browser_twice.py
        try:
            runner = announced(session.model(), show_stage)
            capture = session.capture(runner, show_stage, edits, instead=instead)
            if capture.attentions:
                if not two_texts:
                    raise OneStackOnly(name=runner.info.name)
                read, capture = capture, choose_attention(capture)
                if session.model() == TRANSLATOR:
                    offer_known_text(read, "text")
            elif compressed and capture.compressed is not None:
                capture = choose_keys(capture, capture.compressed)
            opened = _resolve(runner, capture) if instead is None else _resolve_head(runner, capture)
        except RunnerError as error:
            frame_slots().clear_status()
            write_address()
            st.warning(plain(sentence(error)))
            if isinstance(error, HubNotAsked | FolderNotAsked | BaseNotAsked):
                offer_to_fetch(error, session.model(), "fetch_model")
            elif isinstance(error, WrittenFull) and session.model_options().target:
                write()  # without the box the target could not be shortened
            raise StopException from None
        frame_slots().clear_status()
        if strip is not None:
            show_model_strip(runner.info, opened.capture, (opened.layer, opened.head), strip, runner)
        if plain_model and session.edits_on_all_pages():
            words = _("This page begins with the model as it is, without the edits that other pages show.")
            st.html(f"<p class='atlas-caption'>{words}</p>")
        if opened.capture.request.sound is not None:
            words = silence_words(opened.capture, opened.layer, opened.head, _, number)
            st.html(f"<p class='atlas-caption'>{words}</p>" if words else "<span></span>")
        if address:
            write_address()
        return opened


def offer_to_fetch(error: HubNotAsked | FolderNotAsked | BaseNotAsked, model: str, key: str) -> None:
    """Show the button that permits the download of a model that only a URL or an adapter names."""
    name = str(error.values["base"]) if isinstance(error, BaseNotAsked) else model
    words = _("Open it with {name}") if isinstance(error, BaseNotAsked) else _("Fetch {name}")
    words = _("Open the folder") if isinstance(error, FolderNotAsked) else words
    button(words.format(name=plain(name)), key=key, on_click=session.fetch_model, args=(name,))


def settle(opened: PageContext) -> tuple[PageContext, int, int]:
    """Fill in missing positions: the last token as query, and the key with the most weight."""
    query = len(opened.capture.tokens) - 1 if opened.query is None else opened.query
    key = strongest_key(opened.capture, opened.layer, opened.head, query) if opened.key is None else opened.key
    return replace(opened, query=query, key=key), query, key


def edited(opened: PageContext, edits: tuple[Edit, ...]) -> Capture:
    """Capture the same text with these edits added. Raises RunnerError."""
    try:
        request = same_tokens(opened.capture, (*opened.capture.request.edits, *edits))
        run_context().edits = request.edits
        return as_square(session.asked(opened.runner, request, show_stage))
    finally:
        frame_slots().status.empty()


def asked(opened: PageContext, question: Question[A]) -> A:
    """Return the answer to a question about the capture, waiting for it once; it is cached. Raises RunnerError."""

    def answer() -> A:
        try:
            return await_job(opened.runner.submit(question), lambda: show_stage("reading", 0, 0))
        finally:
            frame_slots().status.empty()

    return cached.made(("asked", repr(opened.capture.request), repr(question)), answer)


def show_stage(stage: str, done: int, total: int) -> None:
    """Show the loading stage, one of ``STAGES``, and its progress in bytes."""
    slots = frame_slots()
    slots.status.progress(done / total if total else 0.0, text=in_words(stage, done, total, _))
    if stage not in ("reading", "queue") and session.model() != DEFAULT_MODEL and slots.stoppable:
        slots.stoppable = False  # its button exists once per run
        with slots.stop:
            button(_("stop loading"), key="stop_loading", on_click=session.set_model, args=(DEFAULT_MODEL,))


def announced(name: str, say: Callable[[str, int, int], None], side: str = "") -> Runner:
    """Load a model, showing its preview until it is loaded, or if it cannot be. Raises RunnerError."""
    slot, caption = frame_slots().preview, "<p class='atlas-caption'>{}</p>".format

    def show(known: ModelPreview) -> None:
        slot.html(caption(escape(side + will_be(known, _))))

    runner = session.runner(name, say, show)
    if runner.info.filled:
        words = _("Not in the files of weights, so its own code fills it with fixed numbers: {names}.")
        slot.html(caption(escape(side + words.format(names=_few(runner.info.filled)))))
    else:
        slot.empty()
    return runner


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= FEW_NAMES else f"{names[0]}, … ({len(names)})"


def _resolve_head(runner: Runner, capture: Capture) -> PageContext:
    """Resolve the URL's head in a text that is not the session's, or pick one for this text."""
    problems = list(session.take_problems().values())
    n_told = len(problems)
    layer, head = _head_of_address(capture, problems)
    if layer is None or head is None:
        layer, head = first_head(capture)
    if len(problems) > n_told:
        problems.append(_("Showing L{layer}H{head} instead.").format(layer=layer, head=head))
        session.move(layer=layer, head=head, picked=True)
    if problems:
        st.info(plain(joined(*problems)))
    return PageContext(runner, capture, layer, head, None, None)


def _head_of_address(capture: Capture, problems: list[str]) -> tuple[int | None, int | None]:
    """Return the URL's layer and head; the layer is None if the URL names none. An invalid one is added to
    ``problems``.
    """
    place = session.selection()
    if place.layer is None:
        return None, place.head
    try:
        return place.layer % capture.n_layers, index("head", place.head or 0, capture.record(place.layer).q.shape[0])
    except RunnerError as error:
        problems.append(sentence(error))
        return None, place.head


def _resolve(runner: Runner, capture: Capture) -> PageContext:
    """Resolve the URL's selection, reporting and replacing invalid parts. Raises RunnerError."""
    told = session.take_problems()
    problems, no_head = list(told.values()), not told.keys().isdisjoint(("layer", "head"))
    place, n_told = session.selection(), len(problems)
    layer, head = _head_of_address(capture, problems)
    no_head = no_head or len(problems) > n_told
    picked = layer is None or head is None
    if layer is None or head is None:
        # leaves out edits that lengthen the text, which may then be too long
        fits = tuple(one for one in capture.request.edits if stretch((one,)) > 1)
        plain_capture = as_square(session.capture(runner, show_stage, fits)) if capture.request.edits else capture
        layer, head = first_head(plain_capture)  # the same on every page, whether or not it applies edits
    if (layer, head) != (place.layer, place.head):  # store it for the whole session
        session.move(layer=layer, head=head, picked=picked)
    positions: dict[str, int | None] = {}
    for name in ("query", "key"):
        positions[name] = None
        try:
            value = getattr(place, name) if (name, place.query) != ("query", -1) else told_query(capture)
            positions[name] = None if value is None else index("position", value, len(capture.tokens))
            check_side(capture, name, positions[name])
        except (NoSuchPlace, OtherText) as error:
            problems.append(sentence(error))
            session.move_one(name, -1 if name == "query" else None)
            positions[name] = told_query(capture) if name == "query" else None
    try:
        check_cells(capture.request.edits, len(capture.tokens))
    except NoSuchPlace as error:  # edits may come from another text
        problems.append(sentence(error))
    if no_head:
        problems.append(_("Showing L{layer}H{head} instead.").format(layer=layer, head=head))
    if problems:
        st.info(plain(joined(*dict.fromkeys(problems))))
    return PageContext(runner, capture, layer, head, positions["query"], positions["key"])


def show_strip(
    opened: PageContext,
    shade: Shade | None = None,
    then: Callable[[], object] = lambda: None,
    *,
    both: bool = False,
    bars: token_strip.MetricBars | None = None,
) -> None:
    """Show the token strip, tinted by ``shade`` with ``bars`` below; a click selects the query, then calls ``then``.

    ``both``: Shift-click selects the key.
    """
    units = cached.chips(opened.capture)
    shade = no_shade(opened.capture) if shade is None else shade
    payload = token_strip.TokenStripPicture(
        labels=[lone_spaces(unit.label) for unit in units],
        positions=[unit.start for unit in units],
        counts=[unit.stop - unit.start for unit in units],
        parts=[unit.parts for unit in units],
        special=[unit.special for unit in units],
        metric=shade.tints,
        values=shade.values,
        selected=opened.query,
        looked_at=opened.key,
        texts=translated(token_strip.TEXTS)
        | {"shade": shade.said, **({"row": shade.row} if shade.row else {})}
        | rows_of(opened.capture),
        written=first_query(opened.capture),
        rows=shade.rows,
        both=both and not first_query(opened.capture),
        metric_bars=bars,
    ).packed()

    def choose(token: int | None) -> None:
        session.move(**side_of(opened.capture, token))
        then()

    on = {"token": choose, "key": lambda token: session.move(key=token)}
    mount(token_strip.SOURCE, payload, key="token_strip", on=on)


def rows_of(capture: Capture) -> dict[str, str]:
    """Return labels for the strip's two rows if keys stand for several tokens, otherwise nothing."""
    return {"read": _("keys"), "written": _("tokens")} if capture.request.attention == COMPRESSED else {}


def show_badge(opened: PageContext) -> DeltaGenerator:
    """Show the verification badge of the open layer and return its container; report a failed check and stop."""
    with frame_slots().badge:
        if opened.capture.request.edits:
            _show_edits(opened.capture.request.edits)
        place = st.empty()
    check_again(opened, place)
    return place


def check_again(opened: PageContext, place: DeltaGenerator) -> None:
    """Redraw the badge for a capture that has grown."""
    check = cached.check(opened.capture, opened.layer)
    text, meaning = verdict(check, opened.layer, opened.runner.info.dtype, _)
    said, dot, more = text.partition(" · ")  # a narrow page has room for the first word only
    words = f"{said}<span class='more'>{dot}{more}</span>"
    place.html(f"<span class='atlas-badge {'ok' if check.ok else 'bad'}' title=\"{meaning}\">{words}</span>")
    if not check.ok:
        st.error(plain(sentence(NotVerified(layer=opened.layer, **errors(check)))))
        raise StopException


def _show_edits(edits: tuple[Edit, ...]) -> None:
    """Show that the numbers are of an edited model, with its edits and a button that removes them."""
    first, rest = edit_name(edits[0], _), len(edits) - 1
    every = escape(", ".join(edit_name(edit, _) for edit in edits))
    changed = _("changed: {edits}").format(edits=escape(f"{first} + {rest}" if rest else first))
    with st.container(key="changed_model", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<span class='atlas-badge changed' title='{every}'>{changed}</span>", width="content")
        button(_("undo"), key="undo_edits", type="tertiary", on_click=session.apply_to_all_pages, args=(False,))


def show_errors(draw: Callable[[], None]) -> None:
    """Draw a part of a page; if it raises a user error, show the sentence and keep the rest of the page."""
    try:
        draw()
    except Cancelled:
        if in_fragment():  # the whole page is rerun, twice if needed: see ui.shell.frame
            st.rerun()
        raise
    except RunnerError as error:
        st.warning(plain(sentence(error)))


def translated(texts: dict[str, str]) -> dict[str, str]:
    """Translate a component's texts."""
    return {name: _(text) for name, text in texts.items()}
