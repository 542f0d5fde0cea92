"""Controlled widgets: they show a value held elsewhere, follow its changes and report what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from ui.state import session, url_state
from ui.state.session_value import SessionValue

V = TypeVar("V")
ECHO = "echo"  # key of a widget, see :func:`draw_run_number`
RUNS = SessionValue("runs", int)  # number of the current run
_TO_SET = SessionValue[dict[str, bool]]("to_set", dict)  # by widget: set the value again when it is drawn
_OPTION_WORDS = SessionValue[dict[str, "OptionWords"]]("option_words", dict)  # by widget


@dataclass
class OptionWords:
    """A widget's options (words → option), the current and all earlier ones, and its values ``before`` a ``run`` set
    it.
    """

    now: dict[str, Any] = field(default_factory=dict[str, Any])
    ever: dict[str, Any] = field(default_factory=dict[str, Any])
    before: list[Any] = field(default_factory=list[Any])
    run: int | None = None


def option_words(widget: str) -> OptionWords:
    """Return the widget's entry by its key."""
    return _OPTION_WORDS.get().setdefault(widget, OptionWords())


def choose_one(
    label: str, key: str, options: Mapping[V, str], value: object, then: Callable[[V], None], *, disabled: bool = False
) -> None:
    """A segmented control of a few options (value → words); ``then`` is called with the choice before the page runs."""
    st.segmented_control(
        label,
        list(options),
        default=value,
        required=True,
        format_func=options.__getitem__,
        key=widget_key(key, value, options),
        on_change=on_option_change(key, options, then),
        label_visibility="collapsed",
        disabled=disabled,
    )


def pick_one(  # noqa: PLR0913  what st.selectbox takes, by keyword
    label: str,
    key: str,
    options: Mapping[V, str],
    value: object,
    then: Callable[[V], None],
    *,
    typed: Callable[[str], None] | None = None,
    width: int | None = None,
    hidden: bool = True,
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """A select box of options (value → words); ``then`` is called with the choice before the page runs.

    With ``typed``, free text is accepted and passed to it. ``hidden`` hides the label.
    """
    st.selectbox(
        label,
        list(options),
        next(place for place, option in enumerate(options) if option == value),
        # Labels are made in advance: Streamlit may call this outside a run, without a language, and for typed text.
        format_func=lambda option: options.get(option, str(option)),
        key=widget_key(key, value, options),
        accept_new_options=typed is not None,
        on_change=on_option_change(key, options, then, typed),
        help=help,
        label_visibility="collapsed" if hidden else "visible",
        width=width or "stretch",
        disabled=disabled,
    )


def widget_key(key: str, value: object, options: Mapping[V, str] | None = None) -> str:
    """Return the widget's key, and set its value if the widget holds another one, for example after Back.

    ``options`` (value → words): a browser keeps a list's words and sends them back (Streamlit 1.67), so a widget with
    other words is set again. A value set by one run is lost (Streamlit 1.67) if another run starts before the browser
    has drawn it. It is therefore set again in the run after a fragment's and in all history navigation, but in no other
    run: over a slow connection, the value would undo what the reader chooses meanwhile. Every widget also gets it as
    its default, for a browser that draws it later.
    """
    otherwise = _reads_otherwise(key, options)  # evaluated in every run, to record its words
    if otherwise or st.session_state.get(key) != value:
        set_value(key, value, once_more=in_fragment())
    elif _TO_SET.get().pop(key, False) or session.is_history_navigation():
        st.session_state[key], option_words(key).run = value, _this_run()
    return key


def set_value(key: str, value: object, *, once_more: bool = True) -> None:
    """Set a widget's value, in a callback, for later callbacks and the next run."""
    _TO_SET.get()[key] = once_more
    if key in st.session_state:
        words = option_words(key)
        words.before = [*([] if _heard(words.run) else words.before[-2:]), st.session_state[key]]
        words.run = _this_run()
    st.session_state[key] = value


def draw_run_number() -> None:
    """End a whole run: draw a hidden number that the browser sends back once it has drawn the run."""
    st.session_state[ECHO] = RUNS.get()
    st.number_input(ECHO, value=0, step=1, key=ECHO, label_visibility="collapsed")
    RUNS.set(RUNS.get() + 1)


def _this_run() -> int | None:
    return None if in_fragment() else RUNS.get()


def in_fragment() -> bool:
    """Return True in a fragment's run."""
    return bool(getattr(get_script_run_ctx(suppress_warning=True), "fragment_ids_this_run", None))


def _reads_otherwise(key: str, options: Mapping[V, str] | None) -> bool:
    if options is None:
        return False
    held, shown = option_words(key), {words: value for value, words in options.items()}
    otherwise, held.now = shown != held.now, shown
    held.ever |= shown
    return otherwise


def widget_value(key: str, options: Mapping[V, str]) -> V | str | None:
    """Return the chosen option, mapping labels of earlier runs or languages back, or the typed text."""
    value: Any = st.session_state[key]
    return value if value in options else option_words(key).ever.get(value, value)


def on_option_change(
    key: str, options: Mapping[V, str], then: Callable[[V], None], typed: Callable[[str], None] | None = None
) -> Callable[[], None]:
    """Return a callback that passes an option to ``then``, and other text to ``typed``; without ``typed`` it is
    ignored.
    """

    def answer(chosen: Any) -> None:
        if chosen in options:
            then(chosen)
        elif typed is not None and isinstance(chosen, str):
            typed(chosen)

    return on_change(key, answer, lambda: widget_value(key, options))


@overload
def on_change(key: str, then: Callable[[Any], None]) -> Callable[[], None]: ...  # a widget's value has no static type
@overload
def on_change(key: str, then: Callable[[V], None], read: Callable[[], V]) -> Callable[[], None]: ...
def on_change(key: str, then: Callable[[Any], None], read: Callable[[], object] | None = None) -> Callable[[], None]:
    """Return a widget's callback, which calls ``then`` with its value.

    It ignores a value that the widget had before it was set from code: another click, or a fragment that the widget is
    not in, sends such a value along (Streamlit 1.67).
    """

    def answer() -> None:
        value, words = read() if read else st.session_state[key], option_words(key)
        parts = getattr(get_script_run_ctx(), "fragment_ids_this_run", None) or [ThreadState.get().fragment_id]
        if ThreadState.get().fragment_id in parts and (_heard(words.run) or value not in words.before):
            then(value)

    return answer


def _heard(run: int | None) -> bool:
    """Return True if the browser has drawn this run. A fragment's run (None) is recognized by the URL that it wrote."""
    if run is not None:  # after a server restart, browsers send numbers that are not yet reached
        return run <= st.session_state.get(ECHO, -1) < RUNS.get()
    sent = getattr(get_script_run_ctx(), "query_string", "")  # st.query_params belongs to the newest run of any thread
    return dict(parse_qsl(sent, keep_blank_values=True)) == url_state.parts()
