"""What lives longer than one run of a page: models, captures and view-models, and every session-state key.

Runners and captures are held by the server and shared; what a session is looking at is its own. Where it looks
(model, text, layer, head, query, key, window) is mirrored in the address, so that copying it shows the same picture.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, Unpack

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from analysis.examples import examples_of, first_text, suited
from hosting import settings
from hosting.listed import listed_models, memory_setting, silence_setting
from hosting.meter import METER
from hosting.runner_server import runner_server
from jobs.session_jobs import SessionJobs
from jobs.waiting import await_job
from ui.state import known_tokenizers, session_sound, text_in_url, url_state
from ui.state.old_urls import renamed
from ui.state.page_state import address_of, change, default_of, fields
from ui.state.page_state import held as held_of
from ui.state.selection import ModelOptions, Selection, UrlWindow
from ui.state.session_value import SessionValue
from ui.state.url_state import DEFAULT_MODEL, DEFAULT_TEXT, MODEL, TEXT, model, text
from ui.state.url_values import write
from ui.wording import url_warnings
from ui.wording.i18n import KEY, _, language
from ui.wording.model_name import model_named

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from classroom.room import Room
    from model_runner import Capture, CaptureRequest, Runner
    from model_runner.adapter import AdapterInfo
    from model_runner.byte_lru import ByteBudgetCache
    from model_runner.edits import Edit
    from model_runner.model_cache import ModelCache
    from model_runner.preview import ModelPreview

S = TypeVar("S", Selection, ModelOptions)
N_ = str  # marks a text for Babel without translating it here

UNREADABLE_TEXT = N_("The text in the link cannot be read; the default text is shown.")

HIDES_STORY = ("heads.what", "heads.hide_first", "heads.unit", "heads.other")  # parts of the address, when chosen
_BARE = {MODEL, KEY}  # of an address that says nothing of a text
_ID = "session_id"
_PICKED = SessionValue("picked", bool)  # whether the open head is a page's choice, of this text alone
_PROBLEMS = SessionValue[dict[str, str]]("problems", dict)
_ADAPTERS = SessionValue[dict[str, "AdapterInfo | None"]]("adapters", dict)  # by model, as far as they were met here
_CHOSEN = SessionValue[set[str]]("chosen", set)  # models that the reader named, and not an address alone
_ROOM = SessionValue["Room | None"]("room", lambda: None)
_JOBS = SessionValue("jobs", lambda: SessionJobs(st.session_state[_ID]))
_BEGUN = SessionValue("begun", bool)  # whether the address named no text
OPENED_TEXT = SessionValue[str | None]("opened_text", lambda: None)  # the one that an address was opened with
EDITS = "edits"  # a part of the address: see ui.state.edit_list


def begin() -> bool:
    """Read the address at the first run, when its reader went back or forward, or to another step: whether it did."""
    led = url_state.led()
    if _ID in st.session_state and not is_history_navigation() and not led:
        return False
    st.session_state.setdefault(_ID, uuid.uuid4().hex)
    go_to(st.query_params.to_dict())
    return True


def go_to(parts: Mapping[str, str]) -> None:
    """Look at what an address with these parts says, and at nothing else."""
    given = renamed(parts)
    _PROBLEMS.set({})
    url_warnings.forget_all()
    st.session_state[MODEL] = model_named(given.get(MODEL, "")) or DEFAULT_MODEL
    first = TEXT not in st.session_state and not given.keys() - _BARE
    held = st.session_state.get(TEXT, DEFAULT_TEXT)
    stays = DEFAULT_TEXT if text_in_url.parts_of(held) else held  # no address holds a longer one
    usual = {
        address_of(kind, name): write(default_of(kind, name))
        for kind in (Selection, ModelOptions)
        for name in fields(kind)
    }
    _PICKED.set(False)
    apart = (MODEL, *text_in_url.NAMES)
    url_state.hold({name: value for name, value in given.items() if name not in apart and value != usual.get(name)})
    _BEGUN.set(first and model() == DEFAULT_MODEL)
    if first:  # no place of another text is named
        stays = examples_of(DEFAULT_MODEL, language())[0].text
    try:
        read = text_in_url.text_of(given)
        st.session_state[TEXT] = suited(stays, DEFAULT_MODEL, model(), language()) if read is None else read
    except ValueError:
        st.session_state[TEXT] = stays
        _PROBLEMS.set({TEXT: _(UNREADABLE_TEXT)})
    OPENED_TEXT.set(st.session_state[TEXT])  # what the address says of a page is of this text


def begin_on(page: str) -> None:
    """Where the address named no text, the one that a page of this address has most to show of."""
    if _BEGUN.take():
        st.session_state[TEXT] = first_text(page, language())
        OPENED_TEXT.set(st.session_state[TEXT])


def is_history_navigation() -> bool:
    """Whether Back or Forward of the browser asked for this run: its address is the one gone to (Streamlit 1.67)."""
    return getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)


def take_problems() -> dict[str, str]:
    """Why parts of the address could not be read, by name; told once."""
    selection()
    model_options()
    return _PROBLEMS.take()


def _held(kind: type[S]) -> S:
    value, problems = held_of(kind)
    _PROBLEMS.get().update(problems)
    return value


def selection() -> Selection:
    return _held(Selection)


def model_options() -> ModelOptions:
    """What every page reads besides the text itself."""
    return _held(ModelOptions)


class Moves(TypedDict, total=False):
    """Fields of a :class:`Selection`."""

    layer: int | None
    head: int | None
    query: int | None
    key: int | None
    window: UrlWindow | None


def move(*, picked: bool = False, **changes: Unpack[Moves]) -> None:
    """Look somewhere else. A head that a page ``picked`` stays until the text is another."""
    if picked or not changes.keys().isdisjoint(("layer", "head")):
        _PICKED.set(picked)
    change(Selection, **changes)


def move_one(part: Literal["layer", "head", "query", "key"], place: int | None) -> None:
    """Look somewhere else in one respect."""
    if part in ("layer", "head"):
        _PICKED.set(False)
    change(Selection, **{part: place})


def set_text(value: str) -> None:
    """Read another text: positions of the old one mean nothing in it, nor does what was written of it."""
    if value != text():
        st.session_state[TEXT] = value
        change(ModelOptions, continuation=(), target="")
        move(query=-1, key=None, window=None)
        if _PICKED.get():
            move(layer=None, head=None)


def open_example(value: str) -> None:
    """Read the text of an example as a first visit does: on its own head, with nothing that would hide its story."""
    _PICKED.set(False)
    set_text(value)
    change(Selection, **asdict(Selection()))
    change(ModelOptions, continuation=(), target="", chat=False, attention="cross", keys="tokens")
    for name in HIDES_STORY:
        url_state.choose(name, "", "")


def set_model(value: str) -> None:
    """Look with another model, by its id, folder or page's address: its layers and tokens are others."""
    value = model_named(value, model()) or DEFAULT_MODEL
    fetch_model(value)
    if value != model():
        st.session_state[TEXT] = suited(text(), model(), value, language())
        st.session_state[MODEL] = value
        _PICKED.set(False)
        change(ModelOptions, source_language="", target_language="")  # another tokenizer has others
        for kind in (Selection, ModelOptions):
            change(kind, **asdict(kind()))


def fetch_model(name: str) -> None:
    """The hub may be asked for this model, or an adapter opened with it: the reader wants it."""
    _CHOSEN.get().add(name)


def continuation() -> tuple[int, ...]:
    """Ids of generated tokens after the text's own that every page looks at as part of it."""
    return model_options().continuation


def continue_with(ids: tuple[int, ...]) -> None:
    """Look at the text with these tokens after it; its positions are looked at anew."""
    change(ModelOptions, continuation=ids)
    move(query=-1, key=None, window=None)


def chat() -> bool:
    """Whether the text is read as the user's turn in the model's own chat template."""
    return model_options().chat


def edits_on_all_pages() -> str:
    """The edits, as the address holds them, that every page's model is changed by; nothing for none."""
    return (url_state.written(EDITS) or "") if model_options().everywhere else ""


def apply_to_all_pages(on: bool) -> None:
    """Have every page look at the model as it is changed by the edits of the list, or at the model itself."""
    change(ModelOptions, everywhere=on)


def room() -> Room | None:
    """The room that this session teaches, until it ends."""
    held = _ROOM.get()
    return None if held is None or held.ended else held


def teach(opened: Room) -> None:
    """What this session's pages show is seen in this room."""
    _ROOM.set(opened)


@st.cache_resource(show_spinner=False)
def model_cache() -> ModelCache:
    """The models in memory, or those of the server that ATLAS_RUNNER names, shared by every session."""
    from jobs.request_limits import limit_check
    from model_runner.local.local_models import LocalModels  # torch is imported only after the frame is painted
    from model_runner.remote.models import RemoteModels

    hosted = settings.current()
    allow = limit_check(hosted.limits) if hosted else lambda *_: None
    cache: ModelCache
    if server := runner_server():
        cache = RemoteModels(server.url, server.key, keep=memory_setting(), allow=allow)
    else:
        cache = LocalModels(listed_models() or None, keep=memory_setting(), allow=allow, silence=silence_setting())
    METER.watch(
        queue=lambda: cache.work()[0], work_seconds_total=lambda: cache.work()[1], kept_bytes=lambda: cache.kept.nbytes
    )
    return cache


def kept() -> ByteBudgetCache:
    """What the server keeps for later, of all sessions, within the budget of its setting ATLAS_MEMORY."""
    return model_cache().kept


def runner(name: str, say: Callable[[str, int, int], None], show: Callable[[ModelPreview], None]) -> Runner:
    """Of a model, loaded first if need be: ``say`` hears how far, ``show`` what it will be. Raises RunnerError.

    Of one with an adapter, with it or without, as it is chosen for every page.
    """
    options, chosen = model_options(), _CHOSEN.get()
    loaded = model_cache().runner(
        name, say, show, device=options.device, dtype=options.dtype, ask_hub=name in chosen, agreed=chosen
    )
    _ADAPTERS.get()[name] = loaded.info.adapter
    wanted = loaded if options.adapter or loaded.base is None else loaded.base
    return known_tokenizers.noted(name, session_sound.noted(name, wanted))


def adapter(name: str) -> AdapterInfo | None:
    """What is added to the weights of this model, as far as this session has met it."""
    return _ADAPTERS.get().get(name)


def capture(
    runner: Runner,
    say: Callable[[str, int, int], None],
    edits: tuple[Edit, ...] = (),
    *,
    continued: bool = True,
    instead: str | None = None,
) -> Capture:
    """This session's text through the model with ``edits``; ``continued``: and generated tokens. Raises RunnerError.

    ``instead``: another text, which is read alone. A model that hears has none.
    """
    from model_runner import CaptureRequest  # torch is imported only after the frame is painted

    options = model_options()
    request = CaptureRequest(continuation=continuation() * continued, edits=edits)
    if runner.info.hears:
        request = replace(request, sound=session_sound.sound())
    elif instead is not None:
        request = CaptureRequest(text=instead, edits=edits)
    else:
        request = replace(request, text=text(), chat=options.chat)
    if runner.info.attentions:
        target = None if runner.info.classes else options.target or None  # a classifier writes nothing
        request = replace(request, attention=options.attention, target=target)
        if runner.info.tokenizer.languages:
            languages = {"source_language": options.source_language, "target_language": options.target_language}
            request = replace(request, **{name: code or None for name, code in languages.items()})
    return asked(runner, request, say)


def warm_up() -> None:
    """Load the model and read the text, so that the next run of the page finds both; what goes wrong the page says."""
    from model_runner import RunnerError  # torch is imported only after the frame is painted

    with suppress(RunnerError):
        capture(runner(model(), _unsaid, lambda _: None), _unsaid)


def _unsaid(_stage: str, _done: int, _total: int) -> None:
    text()  # a look at the session: a newer run takes over


def asked(runner: Runner, request: CaptureRequest, say: Callable[[str, int, int], None]) -> Capture:
    """What this session asks for, waited for. Raises RunnerError."""
    job = runner.submit(request, session=st.session_state[_ID])
    return await_job(job, lambda: say("queue" if job.ahead else "reading", job.ahead, 0), look=text)


def jobs() -> SessionJobs:
    """What goes on for this session."""
    held = _JOBS.get()
    _end_when_left(st.session_state[_ID], held)
    return held


@st.cache_resource(scope="session", on_release=SessionJobs.close, show_spinner=False)
def _end_when_left(session: str, _jobs: SessionJobs) -> SessionJobs:
    """Streamlit releases what a session caches as soon as its browser is gone: no worker goes on for nobody."""
    return _jobs
