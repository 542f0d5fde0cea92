"""What the file beside each embedded model says of the application's examples is what is measured, and worth seeing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.examples import examples_of
from analysis.stories import CLEAR
from model_runner import load_runner
from model_runner.local.model_folder import EMBEDDED
from scripts.check.examples import FILE, measured

NUMBERS = ("weight", "probability")


def held(name: str) -> list[dict[str, Any]]:
    return json.loads((EMBEDDED[name] / FILE).read_text("utf-8"))


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_file_holds_what_every_example_shows(name: str) -> None:
    found, written = measured(load_runner(name), name), held(name)
    assert [one["text"] for one in written] == [example.text for example in examples_of(name, "en")]
    for now, before in zip(found, written, strict=True):
        assert {key: value for key, value in now.items() if key not in NUMBERS} == {
            key: value for key, value in before.items() if key not in NUMBERS
        }
        for key in NUMBERS:
            assert now.get(key) == pytest.approx(before.get(key), abs=0.01)


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_example_has_something_to_see(name: str) -> None:
    for one in held(name):
        assert max(one.get(key, 0.0) for key in NUMBERS) >= CLEAR, one["text"]


def test_the_default_models_examples_are_in_both_languages_the_readers_first() -> None:
    for language in ("en", "zh"):
        ascii_ = [example.text.isascii() for example in examples_of("default", language)]
        assert ascii_ == sorted(ascii_, reverse=language == "en")
        assert min(ascii_.count(True), ascii_.count(False)) >= 6
