"""The second side of the page Compare: its controls; its model, text and head, loaded and verified like A's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from weakref import ref

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.examples import text_beside
from analysis.head_names import head_name
from analysis.joined import as_square
from analysis.number_text import error_size
from analysis.other_head import other_head
from analysis.stories import first_head
from hosting.listed import listed_models
from jobs.second_text import OneCapture, Say, asked
from model_runner import Capture, CaptureRequest, Runner, RunnerError
from model_runner.adapter import BaseNotAsked, NoAdapter
from model_runner.errors import Cancelled, FolderNotAsked, HubNotAsked, NotVerified
from pages.compare.state import MOST_CHARACTERS, SAME, SWITCHED, CompareState, state
from ui.shared import cached
from ui.shared.head_views import width_of
from ui.shared.outside_vocabulary import TRANSLATOR, offer_known_text
from ui.shell.models_offered import labelled, offered
from ui.shell.page import PageContext, announced, offer_to_fetch
from ui.state import edit_list, session
from ui.state.controls import pick
from ui.state.frame_slots import frame_slots
from ui.state.inputs import on_change, pick_one, widget_key
from ui.state.kept_click import button
from ui.state.page_state import address_of, change, refuse
from ui.wording.i18n import _
from ui.wording.loading_stages import in_words
from ui.wording.model_name import CUT, model_named
from ui.wording.sentences import sentence
from viz.markdown import plain

SIDE = "B · "  # prefix of messages about its model
OTHER_TOKENS = ("translator", "default")  # embedded models with different tokenizers, English and Chinese
Head = tuple[int, int]


def model_of_b() -> str:
    """The name of B's model, or empty for A's. The tokens view defaults to another embedded model."""
    held, listed = state(), listed_models()
    if held.model == SAME:
        return ""
    if held.view != "tokens" or held.model or held.text:
        return held.model
    return next((name for name in OTHER_TOKENS if name != session.model() and name in (listed or OTHER_TOKENS)), "")


def text_of_b() -> str:
    """B's text, or empty for A's. With the same model, an example is compared with a similar one by default."""
    held = state()
    if held.text or model_of_b() or held.view not in ("next", "tokens"):
        return held.text
    as_it_is = not (session.edits_on_all_pages() and edit_list.held()) and not session.continuation()
    return text_beside(session.text()) if as_it_is else ""


def show_other(opened: PageContext) -> PageContext | None:
    """Show the controls and return side B; None, with a sentence, if it is unavailable. The controls stay."""
    with st.container(key="compare_controls", horizontal=True, vertical_alignment="center", gap="small"):
        st.html("<b>B</b>", width="content")
        _model_box()
        heads = st.container(key="compare_head", horizontal=True, width="content")
        _text_box()
    try:
        runner = _runner(opened)
        capture = _capture(opened, runner)
        layer, head = _head(opened, runner, capture, heads)
        check = cached.check(capture, layer)
        if not check.ok:
            errors = {"error": error_size(check.max_abs_error), "tolerance": error_size(check.tolerance)}
            raise NotVerified(layer=layer, **errors)
        return PageContext(runner, capture, layer, head, None, None)
    except RunnerError as error:
        st.warning(plain("B: " + sentence(error)))
        if isinstance(error, HubNotAsked | FolderNotAsked | BaseNotAsked):
            offer_to_fetch(error, model_of_b(), "fetch_other")
        return None
    finally:
        frame_slots().clear_status()


def _model_box() -> None:
    """The model box, with the sidebar's rules: only the server's models if it lists any."""
    listed, held = listed_models(), model_of_b()
    open_model = session.model() if held in ("", SWITCHED) else held
    names = {"": _("the same model")} | labelled(offered(listed, open_model), _)
    if session.adapter(session.model()) is not None or held == SWITCHED:
        words = _("without the adapter") if session.model_options().adapter else _("with the adapter")
        names = {"": names.pop(""), SWITCHED: words} | names
    if state().view == "tokens":  # its default is another model
        names = {SAME: names.pop("")} | names
        held = held or SAME

    def typed(name: str) -> None:
        if not name.startswith(CUT):
            _choose(model_named(name, session.model()))

    key = address_of(CompareState, "model")
    pick_one(_("model of B"), key, names, held, _choose, typed=None if listed else typed, width=225)


def _choose(name: str) -> None:
    """Set B's model; the reader named it, so the hub may be contacted. Another model has other heads."""
    if name not in ("", SAME, SWITCHED):
        session.fetch_model(name)
    change(CompareState, model=name, head="")


def _text_box() -> None:
    text = text_of_b()
    key = widget_key(address_of(CompareState, "text"), text)
    st.text_input(
        _("text of B"),
        text,
        key=key,
        max_chars=MOST_CHARACTERS,
        placeholder=_("the same text"),
        label_visibility="collapsed",
        on_change=on_change(key, lambda typed: change(CompareState, text=typed.strip() and typed)),
    )


def _runner(opened: PageContext) -> Runner:
    """B's runner, which is A's if the model is the same. Raises RunnerError."""
    name = model_of_b()
    if name == SWITCHED:
        other = switched(opened.runner)
        if other is None:
            raise NoAdapter(name=opened.runner.info.name)
        return other
    same = name in ("", session.model())
    return opened.runner if same else announced(name, _say_loading, SIDE)


def switched(runner: Runner) -> Runner | None:
    """The same model with its adapter if this one has none applied, and vice versa; None without an adapter."""
    if runner.base is not None:
        return runner.base
    return runner.adapted


def request_of(opened: PageContext, runner: Runner, text: str, *, predicts: bool = False) -> CaptureRequest:
    """The request for B: A's input, or ``text``; always on the unedited model.

    For another model beside an encoder-decoder's target, it reads the target. For an encoder-decoder beside another
    model, its encoder reads the text or, if it ``predicts``, its decoder writes. A translator uses A's languages as far
    as it supports them.
    """
    own = opened.capture.request
    if runner is not opened.runner and runner is switched(opened.runner):  # it has the same tokenizer
        own = replace(own, adapter=None, edits=())
        return own if not text else replace(own, text=text, continuation=())
    if runner is opened.runner:
        return replace(own, edits=()) if not text else replace(own, text=text, continuation=(), edits=())
    read = opened.capture.text if own.attention == "decoder" or (own.continuation and not own.chat) else own.text
    usual = "decoder" if predicts else "encoder"
    wanted = None if not runner.info.attentions else own.attention or usual
    request = CaptureRequest(text or read, chat=own.chat and runner.has_chat_template, attention=wanted)
    known = runner.info.tokenizer.languages  # a language that B lacks becomes its folder's default
    spoken = {"source_language": own.source_language, "target_language": own.target_language}
    return replace(request, **{name: code for name, code in spoken.items() if code in known})


def _capture(opened: PageContext, runner: Runner) -> Capture:
    request = request_of(opened, runner, text_of_b(), predicts=state().view == "next")
    if runner is opened.runner and request == opened.capture.request:
        return opened.capture
    key = (ref(runner), request)
    kept: OneCapture = session.jobs().get("compare", key, lambda owner: OneCapture(_look(runner, request, owner)))
    found = kept.find(_say_reading)
    if found is None:
        raise Cancelled()
    writes = state().view != "tokens"  # the tokens view shows nothing of its output
    if writes and model_of_b() == TRANSLATOR != session.model():  # otherwise the page's head reports it for A's text
        offer_known_text(found, "compare", lambda text: change(CompareState, text=text))
    return as_square(found)


def _look(runner: Runner, request: CaptureRequest, owner: str) -> Callable[[Say], Capture]:
    return lambda say: asked(runner, request, owner, say)


def _say_reading() -> None:
    frame_slots().status.progress(0.0, text=SIDE + in_words("reading", 0, 0, _))


def _say_loading(stage: str, done: int, total: int) -> None:
    """Show the loading stage, and a button that returns to A's model."""
    slots = frame_slots()
    slots.status.progress(done / total if total else 0.0, text=SIDE + in_words(stage, done, total, _))
    if slots.stoppable:
        slots.stoppable = False
        with slots.stop:
            button(_("stop loading"), key="stop_other", on_click=_choose, args=("",))


def _head(opened: PageContext, runner: Runner, capture: Capture, place: DeltaGenerator) -> Head:
    """Select B's head at its position; an invalid one is reported and dropped.

    Views that compare whole models or tokens have no selector, and keep the choice.
    """
    layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    heads = {f"L{layer}H{head}": (layer, head) for layer in layers for head in range(len(capture.q(layer)))}
    held, usual = state().head, _usual_head(opened, runner, capture)
    if state().view not in ("maps", "metrics"):
        return heads.get(held, usual)
    if held and held not in heads:
        refuse(CompareState, "head", _("There is no head {name} to compare with.").format(name=held))
        held = ""
    chosen = heads[held] if held else usual
    with place:
        names = {name: f"L{layer}{head_name(capture, layer, head)}" for name, (layer, head) in heads.items()}
        if state().layers:  # a layer is given by one of its heads
            names = {f"L{layer}H{chosen[1] if layer == chosen[0] else 0}": f"L{layer}" for layer in layers}
        pick(CompareState, "head", f"L{chosen[0]}H{chosen[1]}", names, width=max(130, width_of(names.values())))
    return chosen


def _usual_head(opened: PageContext, runner: Runner, capture: Capture) -> Head:
    """The default head: for the same text and model another head; for another text or checkpoint the same one; for
    another model that model's own.
    """
    here = opened.layer, opened.head
    if runner is not opened.runner:
        return here if _shape(runner) == _shape(opened.runner) else first_head(capture)
    return other_head(cached.grid(capture), here) if capture is opened.capture else here


def _shape(runner: Runner) -> tuple[str, int, int, int, int, int]:
    """The shape that a model and its own checkpoints share."""
    info = runner.info
    return info.family, info.n_layers, info.n_heads, info.n_kv_heads, info.n_parameters, info.n_vocab
