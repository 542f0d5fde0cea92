"""A finding quotes its tokens so that each can be identified, and never contains markup."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest

from ui.shared import finding
from ui.shared.finding import key_name, query_name, token_name


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """No session has chosen a language."""
    monkeypatch.setattr(finding, "_", str)


def text(*tokens: str) -> Any:
    """A capture, as far as it is asked."""
    return SimpleNamespace(tokens=[SimpleNamespace(text=token) for token in tokens])


@pytest.mark.parametrize(
    "tokens, position, name",
    [
        (("⟨bos⟩", "The", "·dog"), 2, "“dog”"),
        (("⟨bos⟩", "The", "·dog"), 0, "⟨bos⟩"),
        (("·dog", "·saw", "dog"), 2, "“dog”\u00a0(2)"),  # the same word, with and without its space
        (("a", "·", "b"), 1, "“␣”"),
        (("a", "<b>", "c"), 1, "“<b>”"),
    ],
)
def test_a_token_is_named_so_that_it_is_known_which_one_is_meant(tokens, position, name):
    said = token_name(text(*tokens), position)
    assert "<b>" not in said
    assert unescape(re.sub("</?bdi>", "", said)) == name


def test_a_query_and_a_key_have_their_colours():
    assert query_name(text("a", "b"), 0).startswith("<span class='atlas-q'>")
    assert key_name(text("a", "b"), 1).startswith("<span class='atlas-k'>")
