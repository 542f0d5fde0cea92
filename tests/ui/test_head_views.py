"""The Heads page's parts that can be wrong without a screen: scales, pins and what is said of a pinned token."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.head_map import HeadMap, Reading, Window
from analysis.units import Unit, token_units, word_units
from model_runner import CaptureRequest, load_runner
from ui import head_views, wording
from ui.head_views import Scale, scale_of, strongest_key, summary
from ui.page import Opened

TEXT = "The unhappiest squirrelologist chased it"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """The sources' own words, where no session says which language it reads."""
    for module in (head_views, wording):
        monkeypatch.setattr(module, "_", lambda message: message)


@pytest.fixture(scope="module")
def runner():
    return load_runner()


@pytest.fixture(scope="module")
def capture(runner):
    return runner.capture(CaptureRequest(text=TEXT))


@pytest.fixture
def opened(runner, capture):
    def at(query, key=None, layer=3, head=7):
        return Opened(runner, capture, layer, head, query, key)

    return at


def view(*values: float) -> HeadMap:
    units = tuple(Unit(str(i), i, i + 1, (str(i),)) for i in range(len(values)))
    return HeadMap(np.array([values], np.float32), Window(0, 1, 0, len(values)), units, (1, 1), "exact")


@pytest.mark.parametrize("largest", [0.2, 1.0])
def test_weights_are_always_drawn_from_0_to_1_so_that_pictures_compare(largest):
    found = scale_of(view(0.1, largest), Reading("weights"), log=False, other=None)
    assert found == Scale("sequential", 0.0, 1.0, False, "percent")


def test_a_logarithmic_scale_of_weights_spans_four_decades():
    found = scale_of(view(0.1, 0.2), Reading("weights"), log=True, other=None)
    assert (found.low, found.high, found.log) == (pytest.approx(1e-4), 1.0, True)


def test_weighted_values_are_drawn_up_to_the_largest_in_view_and_are_no_percentages():
    found = scale_of(view(0.5, 3.0), Reading("value"), log=False, other=None)
    assert found == Scale("sequential", 0.0, 3.0, False, "plain")


def test_scores_are_drawn_around_0_and_never_on_a_logarithm():
    found = scale_of(view(-5.0, 3.0, np.nan), Reading("scores"), log=True, other=None)
    assert found == Scale("diverging", -5.0, 5.0, False, "plain")


def test_a_difference_of_two_heads_is_drawn_around_0():
    found = scale_of(view(-0.25, 0.5), Reading("weights"), log=True, other=(1, 2))
    assert found == Scale("diverging", -0.5, 0.5, False, "percent")


@pytest.mark.parametrize("what", ["weights", "scores", "value"])
@pytest.mark.parametrize("log", [False, True])
def test_a_map_of_zeros_or_of_nothing_visible_still_has_a_scale(what, log):
    for values in ((0.0, 0.0), (np.nan, np.nan)):
        found = scale_of(view(*values), Reading(what), log=log, other=None)
        assert found.low < found.high


def test_in_words_every_token_of_a_word_pins_that_word(opened, capture):
    units = word_units(capture)
    assert len(units) < len(capture.tokens), "the text must have a word of several tokens"
    for token in range(len(capture.tokens)):
        pinned = head_views._pinned(opened(token, token), units)
        assert pinned is not None
        assert pinned[0] == pinned[1]
        assert units[pinned[0]].start <= token < units[pinned[0]].stop


def test_in_tokens_a_token_pins_itself(opened, capture):
    assert head_views._pinned(opened(4, 2), token_units(capture)) == (4, 2)
    assert head_views._pinned(opened(4), token_units(capture)) == (4, None)
    assert head_views._pinned(opened(None), token_units(capture)) is None


def test_the_strongest_key_is_the_one_looked_at_most(opened, capture):
    row = capture.weights(3, 7)[5].tolist()
    assert strongest_key(opened(5)) == (5, row.index(max(row)), pytest.approx(max(row), abs=1e-6))


def test_a_pinned_key_is_told_even_if_another_is_stronger(opened, capture):
    weights = capture.weights(3, 7)
    weakest = int(weights[5, :6].argmin())
    assert strongest_key(opened(5, weakest)) == (5, weakest, pytest.approx(float(weights[5, weakest]), abs=1e-6))


def test_without_a_pinned_query_nothing_is_looked_at(opened):
    assert strongest_key(opened(None)) is None
    assert summary(opened(None)) == "L3H7"


def test_the_summary_says_who_looks_how_much_at_whom(opened, capture):
    share = f"{100 * float(capture.weights(3, 7)[2, 1]):.0f}"
    query, key = capture.tokens[2].text, capture.tokens[1].text
    assert summary(opened(2, 1)) == f"L3H7: {query} (2) looks {share} % at {key} (1)"


@pytest.mark.parametrize(
    "reading, other, said",
    [
        (Reading(), None, []),
        (Reading("value"), None, ["Weight × length"]),
        (Reading("scores"), None, ["before the softmax"]),
        (Reading(hide_first=True), None, ["renormalised"]),
        (Reading(words=True), None, ["summed over", "averaged over"]),
        (Reading("scores", hide_first=True, words=True), None, ["before the softmax"]),
        (Reading("value", hide_first=True, words=True), (1, 2), ["minus L1H2", "× length", "renormalised", "summed"]),
    ],
)
def test_what_was_done_to_the_numbers_is_said_in_the_figure(opened, reading, other, said):
    note = head_views._note(opened(5), reading, other)
    assert [part for part in said if part not in note] == []
    assert bool(note) == bool(said)
    if reading.what == "scores":
        assert "renormalised" not in note
        assert "averaged" not in note
