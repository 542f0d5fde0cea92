"""A typed token is one token of the vocabulary, with or without its leading space, or gives one error message."""

from __future__ import annotations

import functools

import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.errors import NotOneToken
from ui.shared.typed_token import typed_token

RUNNER = functools.cache(lambda: load_runner("default"))


@functools.cache
def logits():
    return RUNNER().capture(CaptureRequest(text="The dog chased the squirrel because it")).logits(-1)


def shown(typed: str) -> str:
    return RUNNER().token_text(typed_token(RUNNER(), typed, logits()))


@pytest.mark.parametrize("typed", ["·was", " was"])
def test_a_leading_space_may_be_typed_as_it_is_drawn(typed):
    assert shown(typed) == "·was"


def test_of_both_readings_the_likelier_one_is_taken():
    assert shown("was") == "·was"
    assert shown(".") == "."


@pytest.mark.parametrize("typed", ["", " ", "·", "squirrelish", "two words", "龘"])
def test_what_is_not_one_token_is_said_with_its_pieces(typed):
    with pytest.raises(NotOneToken) as caught:
        shown(typed)
    ids = RUNNER().ids_of(typed) if typed.strip(" ·") else ()
    assert caught.value.values["count"] == len(ids)
    assert f"“{typed}” is not one token of this model but {len(ids)}" in str(caught.value)
    assert all(RUNNER().token_text(token) in str(caught.value) for token in ids)


def test_a_long_text_is_said_in_short():
    with pytest.raises(NotOneToken) as caught:
        shown("word " * 500)
    assert len(str(caught.value)) < 250
