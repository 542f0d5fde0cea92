"""Tokenizers of the models that this session has loaded; not in the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner import Runner
    from model_runner.tokens import TokenizerInfo

_KNOWN, _ROWS = "tokenizers", "embedding_rows"


def noted(model: str, runner: Runner) -> Runner:
    """Record the tokenizer of the model's runner, and return the runner."""
    st.session_state.setdefault(_KNOWN, {})[model] = runner.info.tokenizer
    st.session_state.setdefault(_ROWS, {})[model] = runner.info.n_vocab
    return runner


def known(model: str) -> TokenizerInfo | None:
    """Return the model's tokenizer, or None if this session has not loaded the model."""
    return st.session_state.get(_KNOWN, {}).get(model)


def embedding_rows(model: str) -> int | None:
    """Return the rows of the model's embedding, or None if this session has not loaded the model."""
    return st.session_state.get(_ROWS, {}).get(model)


def languages(model: str) -> tuple[str, ...]:
    """Return the languages that the model can translate between, if this session has loaded it."""
    found = known(model)
    return () if found is None else found.languages
