"""What lives longer than one run of a page: models, captures and view-models, and every session-state key.

Runners and captures are held by the server and shared; what a session is looking at is its own. Where it looks
(model, text, layer, head, query, key, window) is mirrored in the address, so that copying it shows the same picture.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from ui import address, history
from ui.works import Works

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner import Capture, Runner
    from model_runner.edits import Edit
    from model_runner.shelf import Shelf
    from ui.film import Film

T = TypeVar("T", bound=str)  # the values of a choice, as their Literal
V = TypeVar("V")

DEFAULT_TEXT = "The dog chased the squirrel because it"
DEFAULT_MODEL = "default"
LONGEST_TEXT_IN_ADDRESS = 1500  # characters; browsers and servers cut addresses of more than a few thousand

_MODEL, _TEXT, _PLACE, _CHOICES, _ID, _PROBLEMS, _SLOTS, _CONTINUATION, _WORKS, _SET = (
    "model", "text", "place", "choices", "session_id", "problems", "slots", "continuation", "works", "set",
)  # fmt: skip
_CHAT = "chat"  # a choice: the text is the user's turn in the model's chat template
EDITS = "edits"  # a choice: edits of the forward, as ui.edit_address writes them
_EVERYWHERE = "everywhere"  # a choice: whether every page looks at the model that they change
_PLACED = ("layer", "head", "query", "key", "window")


@dataclass(frozen=True)
class Place:
    """Where a session looks. ``layer`` None: the page picks a head. ``query`` -1: the last token; None: none pinned."""

    layer: int | None = None
    head: int | None = None
    query: int | None = -1
    key: int | None = None
    window: address.Window | None = None


# -- what the session looks at ----------------------------------------------------------------------------------------


def begin() -> None:
    """Read the address at the first run of a session, and whenever its reader went back or forward to another."""
    if _PLACE in st.session_state and not history.moved():
        return
    given = st.query_params
    st.session_state.setdefault(_ID, uuid.uuid4().hex)
    st.session_state[_PROBLEMS] = []
    st.session_state[_MODEL] = given.get(_MODEL, "").strip() or DEFAULT_MODEL
    held = st.session_state.get(_TEXT, DEFAULT_TEXT)
    stays = held if len(held) > LONGEST_TEXT_IN_ADDRESS else DEFAULT_TEXT  # no address holds a longer one
    st.session_state[_TEXT] = given.get(_TEXT, stays)
    st.session_state[_CONTINUATION] = _given(_CONTINUATION, address.token_ids, ())
    st.session_state[_PLACE] = Place(
        layer=_given("layer", address.whole, None),
        head=_given("head", address.whole, None),
        query=None if given.get("query") == "none" else _given("query", address.whole, -1),
        key=_given("key", address.whole, None),
        window=_given("window", address.window, None),
    )
    known = (_MODEL, _TEXT, _CONTINUATION, *_PLACED)
    st.session_state[_CHOICES] = {name: given[name] for name in given if name not in known}


def _given(name: str, read: Callable[[str], V | None], default: V) -> V:
    """A part of the address; what cannot be read is a problem to be told."""
    value = st.query_params.get(name)
    if value is None:
        return default
    found = read(value)
    if found is None:
        st.session_state[_PROBLEMS].append((name, value))
        return default
    return found


def take_problems() -> list[tuple[str, str]]:
    """Parts of the address that are not numbers, told once."""
    problems, st.session_state[_PROBLEMS] = st.session_state[_PROBLEMS], []
    return problems


def place() -> Place:
    return st.session_state[_PLACE]


def move(**changes: Any) -> None:
    """Look somewhere else."""
    st.session_state[_PLACE] = replace(place(), **changes)


def text() -> str:
    return st.session_state[_TEXT]


def set_text(value: str) -> None:
    """Read another text: positions of the old one mean nothing in it."""
    if value != text():
        st.session_state[_TEXT] = value
        continue_with(())


def model() -> str:
    return st.session_state[_MODEL]


def set_model(value: str) -> None:
    """Look with another model: its layers and tokens are others."""
    if value != model():
        st.session_state[_MODEL] = value
        st.session_state[_PLACE] = Place()
        st.session_state[_CONTINUATION] = ()
        for name in (_CHAT, _EVERYWHERE):
            st.session_state[_CHOICES].pop(name, None)


def continuation() -> tuple[int, ...]:
    """Ids of generated tokens after the text's own that every page looks at as part of it."""
    return st.session_state[_CONTINUATION]


def continue_with(ids: tuple[int, ...]) -> None:
    """Look at the text with these tokens after it; its positions are looked at anew."""
    st.session_state[_CONTINUATION] = ids
    move(query=-1, key=None, window=None)


def chat() -> bool:
    """Whether the text is read as the user's turn in the model's own chat template."""
    return choice(_CHAT, ("0", "1")) == "1"


def carried() -> str:
    """The edits, as :mod:`ui.edit_address` writes them, that every page's model is changed by; nothing for none."""
    return (written(EDITS) or "") if choice(_EVERYWHERE, ("0", "1")) == "1" else ""


def carry(on: bool) -> None:
    """Have every page look at the model as it is changed by the edits of the list, or at the model itself."""
    choose(_EVERYWHERE, "1" if on else "0", "0")


def choice(name: str, options: Iterable[T]) -> T:
    """What was chosen for a control, on any page or by the address; the first option otherwise."""
    options = list(options)
    chosen: T = st.session_state[_CHOICES].get(name)
    return chosen if chosen in options else options[0]


def choose(name: str, value: str, default: str) -> None:
    """Remember what was chosen for a control; the default is not worth a place in the address."""
    if value == default:
        st.session_state[_CHOICES].pop(name, None)
    else:
        st.session_state[_CHOICES][name] = value


def written(name: str) -> str | None:
    """What was chosen for a control whose values are not a list, as the address holds it."""
    return st.session_state[_CHOICES].get(name)


def address_parts() -> dict[str, str]:
    """What the address holds, of any page; what is at its default is left out."""
    here, wanted = place(), dict(st.session_state[_CHOICES])
    if model() != DEFAULT_MODEL:
        wanted[_MODEL] = model()
    if text() != DEFAULT_TEXT and len(text()) <= LONGEST_TEXT_IN_ADDRESS:
        wanted[_TEXT] = text()
    if continuation():
        wanted[_CONTINUATION] = ".".join(map(str, continuation()))
    for name in ("layer", "head", "key"):
        if getattr(here, name) is not None:
            wanted[name] = str(getattr(here, name))
    if here.query != -1:
        wanted["query"] = "none" if here.query is None else str(here.query)
    if here.window is not None:
        wanted["window"] = "-".join(map(str, here.window))
    return wanted


def write_address() -> None:
    """Mirror the place in the address."""
    wanted = address_parts()
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def set_lately() -> dict[str, float]:
    """When a run last gave a widget another value than it had, by the widget's key; seconds of a monotonic clock."""
    return st.session_state.setdefault(_SET, {})


def slots() -> dict[str, Any]:
    """Places of this run's frame that pages fill: status, badge, read, take."""
    return st.session_state.setdefault(_SLOTS, {})


# -- what the server holds --------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """The models in memory, shared by every session."""
    from model_runner.shelf import Shelf  # torch is imported only after the frame is painted

    return Shelf()


def runner(name: str, say: Callable[[str, int, int], None]) -> Runner:
    """The runner of a model, loaded first if need be; ``say`` hears the progress. Raises RunnerError."""
    loading = shelf().open(name)
    while not loading.wait(0.1):
        say(*loading.progress)  # a call of Streamlit's: here a newer run of this session takes over
    return loading.result()


def capture(
    runner: Runner, say: Callable[[str, int, int], None], edits: tuple[Edit, ...] = (), *, continued: bool = True
) -> Capture:
    """This session's text through the model, changed by ``edits``; not ``continued``, without its generated tokens.

    Raises RunnerError; cancelled by a newer run.
    """
    from model_runner import CaptureRequest  # torch is imported only after the frame is painted

    request = CaptureRequest(text=text(), chat=chat(), continuation=continuation() if continued else (), edits=edits)
    job = runner.submit(request, session=st.session_state[_ID])
    try:
        while not job.wait(0.1):
            say("reading", 0, 0)
        return job.result()
    finally:
        job.cancel()


def works() -> Works:
    """What this session works at."""
    held: Works = st.session_state.setdefault(_WORKS, Works(st.session_state[_ID]))
    _end_when_left(st.session_state[_ID], held)
    return held


@st.cache_resource(scope="session", on_release=Works.close, show_spinner=False)
def _end_when_left(session: str, _works: Works) -> Works:
    """Streamlit releases what a session caches as soon as its browser is gone: no worker goes on for nobody."""
    return _works


def film(key: object, make: Callable[[str], Film]) -> Film:
    """The session's film of this key, made (with a name for its requests) when there is none: one film is kept."""
    return works().get("film", key, make)
