"""Errors and numbers as sentences for the user, with every placeholder filled in."""

from __future__ import annotations

import math
import re
import string
from pathlib import Path

import pytest

from analysis.number_text import error_size, figure_number, three_digits
from analysis.sentences import joined
from model_runner import errors
from model_runner.errors import ModelIncomplete, ModelPickled, NoSuchPlace, OutOfMemory, Reason, UserFacingError
from ui.wording import sentences
from ui.wording.sentences import number, sentence

ERRORS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, UserFacingError) and value is not UserFacingError
]


@pytest.fixture(autouse=True)
def marked(monkeypatch):
    """A language in which every translated text stands in ⟦brackets⟧."""
    monkeypatch.setattr(sentences, "_", lambda message: f"⟦{message}⟧" if message else "")


def test_a_sentence_is_translated_before_its_values_are_filled_in():
    said = sentence(ModelPickled(name="/a/{b}", file="x.bin"))
    assert said.startswith("⟦The weights in /a/{b} are pickled (x.bin)")
    assert said.endswith("has such files.⟧")


def test_a_place_is_named_in_the_language_of_its_sentence():
    assert "There is no ⟦layer⟧ 99" in sentence(NoSuchPlace(what="layer", value=99, count=8))


def test_a_reason_is_translated_with_values_of_its_own():
    reason = Reason("{file} is missing", {"file": "config.json"})
    assert "is not complete: ⟦config.json is missing⟧." in sentence(ModelIncomplete(name="/m", reason=reason))


def test_a_stage_is_translated():
    assert "ran out while ⟦reading 5 tokens⟧." in sentence(
        OutOfMemory(stage=Reason("reading {tokens} tokens", {"tokens": 5}))
    )


def test_a_name_is_never_translated():
    assert "/m is not complete" in sentence(ModelIncomplete(name="/m", reason="it has no .safetensors file"))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_a_whole_sentence_without_places_left_open(error):
    names = [name for _text, name, _spec, _as in string.Formatter().parse(f"{error.message} {error.hint}") if name]
    said = sentence(error(**dict.fromkeys(names, "VALUE")))
    assert "{" not in said
    assert said.rstrip("⟧").endswith(("VALUE", "."))
    assert said.count("VALUE") >= len(set(names))


def test_sentences_are_joined_by_a_space_but_not_after_a_full_width_mark():
    assert joined("One.", "Two.", "", "Three.") == "One. Two. Three."
    assert joined("一。", "二？", "Three.") == "一。二？Three."


@pytest.mark.parametrize(
    "value, unit, words",
    [
        (0.623, "share", "⟦62 %⟧"),
        (1.0, "share", "⟦100 %⟧"),
        (0.0, "share", "⟦0 %⟧"),
        (0.0051, "share", "⟦0.5 %⟧"),
        (0.0042, "share", "⟦0.4 %⟧"),
        (0.0001, "share", "⟦0.01 %⟧"),
        (0.00001, "share", "⟦< 0.01 %⟧"),
        (1.26, "bits", "⟦1.3 bits⟧"),
        (7.0, "tokens", "⟦7.0 tokens⟧"),
        (-0.0, "bits", "⟦0.0 bits⟧"),
        (-1e-8, "bits", "⟦0.0 bits⟧"),
        (-1.26, "bits", "⟦−1.3 bits⟧"),
    ],
)
def test_a_number_carries_its_unit(monkeypatch, value, unit, words):
    assert number(value, unit) == words


@pytest.mark.parametrize("unit", ["share", "bits", "tokens"])
def test_a_number_that_is_not_defined_is_a_dash(unit):
    assert number(float("nan"), unit) == "–"


@pytest.mark.parametrize(
    "value, words",
    [
        (2.4e-7, "2e−7"),
        (0.0, "0"),
        (1e-10, "1e−10"),
        (0.96, "1e0"),
        (3e-4, "3e−4"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_a_tiny_difference_has_one_digit_and_a_short_exponent(value, words):
    assert error_size(value) == words


@pytest.mark.parametrize(
    "value, words",
    [
        *zip(
            [0.0, 0.5, -0.05, 12.34, 1234.0, -2e-5, 3e7],
            ["0", "0.50", "\u22120.050", "12.3", "1234", "\u22122.0e\u22125", "3.0e7"],
        ),
        (math.nan, "–"),
    ],
)
def test_a_number_beside_a_figure_is_written_as_in_it(value, words):  # the same seven are in words.test.js
    assert figure_number(value) == words


def test_thousands_in_a_sentence_are_written_as_in_figures():
    said = sentence(errors.SequenceTooLong(tokens=6354, limit=2048, characters=12345))
    assert "6,354" in said
    assert "2,048" in said


@pytest.mark.parametrize(
    "value, shown",
    [
        (math.nan, "–"), (0.1234, "0.123"), (12.34, "12.3"), (999.6, "1,000"), (1234.0, "1,230"),
        (178_650.0, "179,000"), (999_600.0, "1.00 × 10⁶"), (1.234e12, "1.23 × 10¹²"), (math.inf, "inf"),
    ],
)  # fmt: skip
def test_a_number_of_any_size_has_three_digits_and_no_programmers_notation(value: float, shown: str):
    assert three_digits(value) == shown


RAW_POWER = re.compile(r"\.toExponential\(|\{[^{}]*:\.?\d*e\}")


def test_no_writer_of_a_power_of_ten_leaves_its_hyphen():
    """A number's own form (1e-7) reaches the screen through the few places that give it a true minus sign."""
    root = Path(__file__).resolve().parents[3]
    files = [path for part in ("viz", "pages", "ui") for kind in ("*.js", "*.py") for path in (root / part).rglob(kind)]
    found = {
        f"{path.relative_to(root)}: {line.strip()}"
        for path in files
        for line in path.read_text("utf-8").splitlines()
        if RAW_POWER.search(line) and "tidy(" not in line and ".split(" not in line
    }
    assert len(files) > 200
    assert found == set()
