"""What outlives a run of a page: models, captures and view-models, and all session-state keys.

The server holds runners and captures, shared by all sessions; the selection belongs to a session. It is mirrored in the
URL (model, text, layer, head, query, key, window), so that a copied link shows the same picture.
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

HIDES_STORY = ("heads.what", "heads.hide_first", "heads.unit", "heads.other")  # URL parameters of explicit choices
_BARE = {MODEL, KEY}  # parameters of a URL that names no text
_ID = "session_id"
_PICKED = SessionValue("picked", bool)  # the open head was picked by a page for this text only
_PROBLEMS = SessionValue[dict[str, str]]("problems", dict)
# by model, for the models loaded in this session
_ADAPTERS = SessionValue[dict[str, "AdapterInfo | None"]]("adapters", dict)
_CHOSEN = SessionValue[set[str]]("chosen", set)  # models that the reader named, not only a URL
_ROOM = SessionValue["Room | None"]("room", lambda: None)
_JOBS = SessionValue("jobs", lambda: SessionJobs(st.session_state[_ID]))
_BEGUN = SessionValue("begun", bool)  # the URL named no text
OPENED_TEXT = SessionValue[str | None]("opened_text", lambda: None)  # the text at the last load of a URL
EDITS = "edits"  # a URL parameter, see ui.state.edit_list


def begin() -> bool:
    """Load state from the URL in the first run, after history navigation and after a lesson link. Returns True if it
    did.
    """
    led = url_state.led()
    if _ID in st.session_state and not is_history_navigation() and not led:
        return False
    st.session_state.setdefault(_ID, uuid.uuid4().hex)
    go_to(st.query_params.to_dict())
    return True


def go_to(parts: Mapping[str, str]) -> None:
    """Set the session's state to what these URL parameters say, and everything else to defaults."""
    given = renamed(parts)
    _PROBLEMS.set({})
    url_warnings.forget_all()
    st.session_state[MODEL] = model_named(given.get(MODEL, "")) or DEFAULT_MODEL
    first = TEXT not in st.session_state and not given.keys() - _BARE
    held = st.session_state.get(TEXT, DEFAULT_TEXT)
    stays = DEFAULT_TEXT if text_in_url.parts_of(held) else held  # a text too long for any URL stays
    usual = {
        address_of(kind, name): write(default_of(kind, name))
        for kind in (Selection, ModelOptions)
        for name in fields(kind)
    }
    _PICKED.set(False)
    apart = (MODEL, *text_in_url.NAMES)
    url_state.hold({name: value for name, value in given.items() if name not in apart and value != usual.get(name)})
    _BEGUN.set(first and model() == DEFAULT_MODEL)
    if first:  # no text and no position is named
        stays = examples_of(DEFAULT_MODEL, language())[0].text
    try:
        read = text_in_url.text_of(given)
        st.session_state[TEXT] = suited(stays, DEFAULT_MODEL, model(), language()) if read is None else read
    except ValueError:
        st.session_state[TEXT] = stays
        _PROBLEMS.set({TEXT: _(UNREADABLE_TEXT)})
    OPENED_TEXT.set(st.session_state[TEXT])  # positions and numbers in the URL refer to this text


def begin_on(page: str) -> None:
    """If the URL named no text, choose the example that this page shows best."""
    if _BEGUN.take():
        st.session_state[TEXT] = first_text(page, language())
        OPENED_TEXT.set(st.session_state[TEXT])


def is_history_navigation() -> bool:
    """Return True if the browser's Back or Forward caused this run (Streamlit 1.67)."""
    return getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", False)


def take_problems() -> dict[str, str]:
    """Return the errors of URL parameters by name, once."""
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
    """Input besides the text, for every page."""
    return _held(ModelOptions)


class Moves(TypedDict, total=False):
    """Fields of a :class:`Selection`."""

    layer: int | None
    head: int | None
    query: int | None
    key: int | None
    window: UrlWindow | None


def move(*, picked: bool = False, **changes: Unpack[Moves]) -> None:
    """Change the selection. A head ``picked`` by a page is dropped when the text changes."""
    if picked or not changes.keys().isdisjoint(("layer", "head")):
        _PICKED.set(picked)
    change(Selection, **changes)


def move_one(part: Literal["layer", "head", "query", "key"], place: int | None) -> None:
    """Change one part of the selection."""
    if part in ("layer", "head"):
        _PICKED.set(False)
    change(Selection, **{part: place})


def set_text(value: str) -> None:
    """Change the text. Positions and the target text refer to the old one and are reset."""
    if value != text():
        st.session_state[TEXT] = value
        change(ModelOptions, continuation=(), target="")
        move(query=-1, key=None, window=None)
        if _PICKED.get():
            move(layer=None, head=None)


def open_example(value: str) -> None:
    """Open an example as on a first visit: on its own head, with all settings that would hide its story reset."""
    _PICKED.set(False)
    set_text(value)
    change(Selection, **asdict(Selection()))
    change(ModelOptions, continuation=(), target="", chat=False, attention="cross", keys="tokens")
    for name in HIDES_STORY:
        url_state.choose(name, "", "")


def set_model(value: str) -> None:
    """Change the model, by its id, folder or page URL; the selection and options are reset."""
    value = model_named(value, model()) or DEFAULT_MODEL
    fetch_model(value)
    if value != model():
        st.session_state[TEXT] = suited(text(), model(), value, language())
        st.session_state[MODEL] = value
        _PICKED.set(False)
        change(ModelOptions, source_language="", target_language="")  # another tokenizer has other languages
        for kind in (Selection, ModelOptions):
            change(kind, **asdict(kind()))


def fetch_model(name: str) -> None:
    """Permit contacting the hub for this model, or an adapter that is opened with it."""
    _CHOSEN.get().add(name)


def continuation() -> tuple[int, ...]:
    """Ids of generated tokens that every page appends to the text."""
    return model_options().continuation


def continue_with(ids: tuple[int, ...]) -> None:
    """Append these tokens to the text and reset the positions."""
    change(ModelOptions, continuation=ids)
    move(query=-1, key=None, window=None)


def chat() -> bool:
    """Return True if the text is read as the user's turn in the model's chat template."""
    return model_options().chat


def edits_on_all_pages() -> str:
    """The edits that apply to all pages, as written in the URL; empty for none."""
    return (url_state.written(EDITS) or "") if model_options().everywhere else ""


def apply_to_all_pages(on: bool) -> None:
    """Apply the listed edits on every page, or stop doing so."""
    change(ModelOptions, everywhere=on)


def room() -> Room | None:
    """The room that this session teaches, or None once it has ended."""
    held = _ROOM.get()
    return None if held is None or held.ended else held


def teach(opened: Room) -> None:
    """Show this session's pages in this room."""
    _ROOM.set(opened)


@st.cache_resource(show_spinner=False)
def model_cache() -> ModelCache:
    """The models in memory, or those of the server in ATLAS_RUNNER, shared by all sessions."""
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
    """The server's cache for all sessions, within the budget in ATLAS_MEMORY."""
    return model_cache().kept


def runner(name: str, say: Callable[[str, int, int], None], show: Callable[[ModelPreview], None]) -> Runner:
    """Return the model's runner, loading it if needed. Raises RunnerError.

    ``say`` is called with the progress and ``show`` with the model's preview. An adapter is applied or not, as chosen
    for all pages.
    """
    options, chosen = model_options(), _CHOSEN.get()
    loaded = model_cache().runner(
        name, say, show, device=options.device, dtype=options.dtype, ask_hub=name in chosen, agreed=chosen
    )
    _ADAPTERS.get()[name] = loaded.info.adapter
    wanted = loaded if options.adapter or loaded.base is None else loaded.base
    return known_tokenizers.noted(name, session_sound.noted(name, wanted))


def adapter(name: str) -> AdapterInfo | None:
    """The adapter on this model's weights, or None; known only if this session has loaded the model."""
    return _ADAPTERS.get().get(name)


def capture(
    runner: Runner,
    say: Callable[[str, int, int], None],
    edits: tuple[Edit, ...] = (),
    *,
    continued: bool = True,
    instead: str | None = None,
) -> Capture:
    """Capture this session's text with ``edits``, and with generated tokens if ``continued``. Raises RunnerError.

    ``instead``: another text to read alone; ignored by audio models.
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
    """Load the model and capture the text, so that the page's next run finds both; errors are left to the page."""
    from model_runner import RunnerError  # torch is imported only after the frame is painted

    with suppress(RunnerError):
        capture(runner(model(), _unsaid, lambda _: None), _unsaid)


def _unsaid(_stage: str, _done: int, _total: int) -> None:
    text()  # reading the session lets a newer run take over


def asked(runner: Runner, request: CaptureRequest, say: Callable[[str, int, int], None]) -> Capture:
    """Submit a request for this session and wait for the answer. Raises RunnerError."""
    job = runner.submit(request, session=st.session_state[_ID])
    return await_job(job, lambda: say("queue" if job.ahead else "reading", job.ahead, 0), look=text)


def jobs() -> SessionJobs:
    """Background work of this session."""
    held = _JOBS.get()
    _end_when_left(st.session_state[_ID], held)
    return held


@st.cache_resource(scope="session", on_release=SessionJobs.close, show_spinner=False)
def _end_when_left(session: str, _jobs: SessionJobs) -> SessionJobs:
    """Register the jobs as a session resource: Streamlit releases it when the browser leaves, which closes them."""
    return _jobs
