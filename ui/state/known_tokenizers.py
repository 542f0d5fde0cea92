"""What a session knows of the tokenizers of the models that it has met. In no address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner import Runner
    from model_runner.tokens import TokenizerInfo

_KNOWN, _ROWS = "tokenizers", "embedding_rows"


def noted(model: str, runner: Runner) -> Runner:
    """The runner of a model, of whose tokenizer it is known from now on what it is."""
    st.session_state.setdefault(_KNOWN, {})[model] = runner.info.tokenizer
    st.session_state.setdefault(_ROWS, {})[model] = runner.info.n_vocab
    return runner


def known(model: str) -> TokenizerInfo | None:
    """What cuts the text of a model, as far as this session has met it."""
    return st.session_state.get(_KNOWN, {}).get(model)


def embedding_rows(model: str) -> int | None:
    """For how many tokens a model has a vector, as far as this session has met it."""
    return st.session_state.get(_ROWS, {}).get(model)


def languages(model: str) -> tuple[str, ...]:
    """Those that a model can be told to read and to write, as far as this session has met it."""
    found = known(model)
    return () if found is None else found.languages
