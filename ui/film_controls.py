"""The settings of a film, in one row: what determines it besides the text, as the address holds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from ui import session
from ui.film import Film
from ui.i18n import _
from ui.inputs import holding, switch
from ui.page import Opened
from ui.sampling_settings import current, store

LENGTH = 20  # tokens, unless told otherwise
LONGEST = 500
WHOLE = 2**53 - 1  # a box for numbers holds none beyond it


def length() -> int:
    """How many tokens the film may have."""
    return _whole("length", LENGTH, 1)


def goal() -> int:
    """How many tokens the film of this address had."""
    return _whole("steps", 1, 0)


def _whole(name: str, default: int, least: int) -> int:
    written = session.written(name) or ""
    return min(LONGEST, max(least, int(written))) if written.isascii() and written.isdigit() else default


def forced(n_vocab: int) -> dict[int, int]:
    """Generated token i → its forced id, as the address has it ("3-17.5-2"); ValueError with the text otherwise."""
    written = session.written("forced") or ""
    try:
        found = {int(index): int(token) for index, token in (part.split("-") for part in written.split(".") if part)}
    except ValueError:
        raise ValueError(written) from None
    if any(not (0 <= index < LONGEST and 0 <= token < n_vocab) for index, token in found.items()):
        raise ValueError(written)
    return found


def remember(film: Film) -> None:
    """The open way in the address: its settings, its forced tokens, and how far it went."""
    take = film.take
    store(take.sampling)
    session.choose("forced", ".".join(f"{index}-{token}" for index, token in take.forced), "")
    session.choose("steps", str(len(take.ids)), "1")
    session.write_address()


def show_controls(opened: Opened) -> bool:
    """The row; returns whether every head is shown in the picture."""
    sampling = current()
    _number(_("Tokens"), "length", length(), 1, LONGEST, lambda n: session.choose("length", str(n), str(LENGTH)))
    _slider(_("Temperature"), "temperature", sampling.temperature, 0.0, 2.0, 0.05)
    _slider("top-p", "top_p", sampling.top_p, 0.01, 1.0, 0.01)
    _number(_("Seed"), "seed", sampling.seed, 0, 2**31 - 1, lambda n: store(replace(current(), seed=n)))
    every_head = not switch(_("one head"), "onehead")
    switch(_("chat template"), "chat", disabled=not opened.runner.has_chat_template and not session.chat())
    words = _("Everything that shapes the distribution.")
    st.page_link("pages/next_token.py", label=_("all settings"), help=words, query_params=session.address_parts())
    return every_head


def _number(label: str, name: str, value: int, least: int, most: int, then: Callable[[int], None]) -> None:
    if abs(value) > WHOLE:
        st.text_input(label, str(value), key=f"film_{name} {value}", width=116, disabled=True)
        return
    key = holding(f"film_{name}", value)
    span = min(least, value), max(most, value)  # the address may hold a seed beyond what the box offers
    st.number_input(label, *span, value, step=1, key=key, width=116, on_change=lambda: then(int(st.session_state[key])))


def _slider(label: str, name: str, value: float, least: float, most: float, step: float) -> None:
    key = holding(f"film_{name}", value)

    def then() -> None:
        store(replace(current(), **{name: float(st.session_state[key])}))

    st.slider(label, least, max(most, value), value, step=step, key=key, width=140, on_change=then)
