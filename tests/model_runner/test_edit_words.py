"""Edits in the reader's words: every kind has some."""

from __future__ import annotations

import pytest

from model_runner.edit_words import name_of
from tests.model_runner.every_edit import EVERY_EDIT, OF_THREE


@pytest.mark.parametrize("edit, words", [*EVERY_EDIT.items(), *OF_THREE.items()])
def test_an_edit_has_a_name(edit, words):
    assert name_of(edit, str) == words
