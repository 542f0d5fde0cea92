"""The parts of Heads that can be tested without a screen: sentences about a pinned token and about the numbers."""

from __future__ import annotations

import pytest

from analysis.head_map import Reading
from analysis.read_head import read_head
from model_runner import CaptureRequest, load_runner
from ui.shared import head_views
from ui.shared.head_views import summary
from ui.shell.page import PageContext
from ui.wording import sentences
from viz.share_text import share_digits

TEXT = "The unhappiest squirrelologist chased it"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """The sources' own words, where no session says which language it reads."""
    for module in (head_views, sentences):
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
        return PageContext(runner, capture, layer, head, query, key)

    return at


def test_without_a_pinned_query_nothing_is_looked_at(opened):
    assert summary(opened(None)) == "L3H7"


def test_the_summary_says_who_looks_how_much_at_whom(opened, capture):
    share = share_digits(float(capture.weights(3, 7)[2, 1]))
    query, key = capture.tokens[2].text, capture.tokens[1].text
    assert summary(opened(2, 1)) == f"L3H7: {query} (2) puts {share} % on {key} (1)"


def test_what_was_done_to_the_numbers_is_said_in_the_figure(opened):
    reading = Reading("value", hide_first=True)
    difference = "L3H7 minus L1H2: orange where the other looks more, indigo where this one does."
    here = opened(5)
    read = read_head(here.capture, 3, 7, reading, (1, 2))
    assert head_views._note(here, read) == " ".join([difference, *reading.notes()])
    assert head_views._note(here, read_head(here.capture, 3, 7)) == ""
