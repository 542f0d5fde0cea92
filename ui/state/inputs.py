"""Widgets that show a value held elsewhere: they follow it when it changes without them, and tell what is chosen."""

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
ECHO = "echo"  # a widget: see :func:`draw_run_number`
RUNS = SessionValue("runs", int)  # the number of the run that goes on
_TO_SET = SessionValue[dict[str, bool]]("to_set", dict)  # by widget: whether its value is set again when it is drawn
_OPTION_WORDS = SessionValue[dict[str, "OptionWords"]]("option_words", dict)  # by widget


@dataclass
class OptionWords:
    """A widget's options (words → option) as given last, and ever; values ``before`` the ``run`` that gave another."""

    now: dict[str, Any] = field(default_factory=dict[str, Any])
    ever: dict[str, Any] = field(default_factory=dict[str, Any])
    before: list[Any] = field(default_factory=list[Any])
    run: int | None = None


def option_words(widget: str) -> OptionWords:
    """By the widget's key."""
    return _OPTION_WORDS.get().setdefault(widget, OptionWords())


def choose_one(
    label: str, key: str, options: Mapping[V, str], value: object, then: Callable[[V], None], *, disabled: bool = False
) -> None:
    """A few options (value → words) as a row of segments; ``then`` is told the one chosen before the page runs."""
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
    """A list that opens, of any options (value → words). ``then`` is told the one chosen, before the page runs again.

    Where ``typed`` is given, anything else can be typed too, and it is told that. ``hidden``: the label is.
    """
    st.selectbox(
        label,
        list(options),
        next(place for place, option in enumerate(options) if option == value),
        # Made before: Streamlit may ask outside a run, where there is no language; and ask for what was typed.
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
    """The key of a widget, made to show this value where its own is another: the reader went back, say.

    ``options`` (value → words): a browser keeps and sends the words of a list (Streamlit 1.67); others are set anew.
    What a run sets gets lost (Streamlit 1.67) where another follows before the browser drew it. So it is set again in
    the run after a fragment's own, and in all that Back and Forward ask for. In no others, for on its way to a browser
    far away a value undoes what is chosen there meanwhile; but every widget is given it as its default too, for a
    browser that draws it later.
    """
    otherwise = _reads_otherwise(key, options)  # looked at in every run, to know the words of the one before
    if otherwise or st.session_state.get(key) != value:
        set_value(key, value, once_more=in_fragment())
    elif _TO_SET.get().pop(key, False) or session.is_history_navigation():
        st.session_state[key], option_words(key).run = value, _this_run()
    return key


def set_value(key: str, value: object, *, once_more: bool = True) -> None:
    """Have a widget show another value; in a callback, also for the callbacks after it and for the run to come."""
    _TO_SET.get()[key] = once_more
    if key in st.session_state:
        words = option_words(key)
        words.before = [*([] if _heard(words.run) else words.before[-2:]), st.session_state[key]]
        words.run = _this_run()
    st.session_state[key] = value


def draw_run_number() -> None:
    """The end of a whole run: a number that no reader sees, and that a browser which has drawn the run sends back."""
    st.session_state[ECHO] = RUNS.get()
    st.number_input(ECHO, value=0, step=1, key=ECHO, label_visibility="collapsed")
    RUNS.set(RUNS.get() + 1)


def _this_run() -> int | None:
    return None if in_fragment() else RUNS.get()


def in_fragment() -> bool:
    """Whether a part of the page runs alone."""
    return bool(getattr(get_script_run_ctx(suppress_warning=True), "fragment_ids_this_run", None))


def _reads_otherwise(key: str, options: Mapping[V, str] | None) -> bool:
    if options is None:
        return False
    held, shown = option_words(key), {words: value for value, words in options.items()}
    otherwise, held.now = shown != held.now, shown
    held.ever |= shown
    return otherwise


def widget_value(key: str, options: Mapping[V, str]) -> V | str | None:
    """What a widget says was chosen: one of its options, in whatever words a browser drew it; or what was typed."""
    value: Any = st.session_state[key]
    return value if value in options else option_words(key).ever.get(value, value)


def on_option_change(
    key: str, options: Mapping[V, str], then: Callable[[V], None], typed: Callable[[str], None] | None = None
) -> Callable[[], None]:
    """A widget's callback: what is none of its options is refused, or taken for typed where that is possible."""

    def answer(chosen: Any) -> None:
        if chosen in options:
            then(chosen)
        elif typed is not None and isinstance(chosen, str):
            typed(chosen)

    return on_change(key, answer, lambda: widget_value(key, options))


@overload
def on_change(key: str, then: Callable[[Any], None]) -> Callable[[], None]: ...  # what a widget holds has no type
@overload
def on_change(key: str, then: Callable[[V], None], read: Callable[[], V]) -> Callable[[], None]: ...
def on_change(key: str, then: Callable[[Any], None], read: Callable[[], object] | None = None) -> Callable[[], None]:
    """A widget's callback: ``then`` is told what it says, as it is ``read``; not what it showed before it was given
    another value, which another click, or a part that it stands outside of, takes along (Streamlit 1.67).
    """

    def answer() -> None:
        value, words = read() if read else st.session_state[key], option_words(key)
        parts = getattr(get_script_run_ctx(), "fragment_ids_this_run", None) or [ThreadState.get().fragment_id]
        if ThreadState.get().fragment_id in parts and (_heard(words.run) or value not in words.before):
            then(value)

    return answer


def _heard(run: int | None) -> bool:
    """Whether the browser that asks has drawn this run; None: a part's, which is known by the address that it wrote."""
    if run is not None:  # a server that was started again is told numbers that it has not come to
        return run <= st.session_state.get(ECHO, -1) < RUNS.get()
    sent = getattr(get_script_run_ctx(), "query_string", "")  # st.query_params is of the newest run of any thread
    return dict(parse_qsl(sent, keep_blank_values=True)) == url_state.parts()
