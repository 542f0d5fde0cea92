"""The interface in the user's language, from gettext catalogs in ``locales``; Babel reads the .po files directly.

English is the language of the sources. ``_`` is called at draw time, never at import time.
"""

from __future__ import annotations

import functools
import gettext
import io
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import ParamSpec, TypeVar

import streamlit as st
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from ui.state import url_state

LOCALES = Path(__file__).parents[1] / "locales"
LANGUAGES = {"en": "English", "zh": "简体中文"}
KEY = "lang"

P = ParamSpec("P")
T = TypeVar("T")


@functools.cache
def catalog(language: str) -> gettext.NullTranslations:
    """The compiled catalog of a language; for English, one that returns the messages unchanged."""
    if language == "en":
        return gettext.NullTranslations()
    with (LOCALES / f"{language}.po").open("rb") as source:
        messages = read_po(source, locale=language)
    compiled = io.BytesIO()
    write_mo(compiled, messages)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


_OF_THIS_RUN: ContextVar[str | None] = ContextVar("language_of_this_run", default=None)


def settle_language() -> None:
    """Resolve the language once per run of a page: a long text asks for it thousands of times."""
    _OF_THIS_RUN.set(None)
    _OF_THIS_RUN.set(language())


def language() -> str:
    """The chosen language, else the browser's if it is one of ours, else English."""
    settled = _OF_THIS_RUN.get()
    if settled is not None:
        return settled
    names, chosen = languages(), url_state.written(KEY)
    return chosen if chosen in names else next(iter(names))


def languages() -> dict[str, str]:
    """Code → name in the language itself, the browser's first."""
    own = (st.context.locale or "").lower().split("-")[0]
    return dict(sorted(LANGUAGES.items(), key=lambda item: item[0] != own))


def _(message: str) -> str:
    """The message in the user's language."""
    return catalog(language()).gettext(message) if message else ""


def in_this_language(make: Callable[P, T]) -> Callable[P, T]:
    """Wrap ``make``, which is called outside a run (when a file is downloaded), to use this run's language."""
    chosen = language()

    def made(*args: P.args, **more: P.kwargs) -> T:
        before = _OF_THIS_RUN.set(chosen)
        try:
            return make(*args, **more)
        finally:
            _OF_THIS_RUN.reset(before)

    return made
