"""Work that ends while the page itself runs: the page is not begun again, for that would leave its boxes empty."""

from __future__ import annotations

import sys

import pytest
import streamlit as st

from jobs.incremental_task import IncrementalTask
from tests.pages.test_models_given_up import PLACES
from tests.ui.driving import button, open_app, sentences

pytestmark = pytest.mark.table  # its tests take a second each


@pytest.mark.parametrize("place", PLACES)
def test_a_page_whose_work_ends_while_it_runs_is_sent_whole(monkeypatch, place):
    page, address, stop, _start = PLACES[place]
    begun_again: list[str] = []
    rerun = st.rerun

    def noted() -> None:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller != "ui.shell.frame":  # which paints the frame of a new session before the engine is imported
            begun_again.append(caller)
        rerun()

    monkeypatch.setattr("streamlit.rerun", noted)
    monkeypatch.setattr("jobs.incremental_task.BUDGET", 60.0)  # it ends within
    pulled: list[object] = []
    pull = IncrementalTask.pull
    monkeypatch.setattr(IncrementalTask, "pull", lambda work: (pulled.append(work), pull(work)))
    app = open_app(page=page, text=f"now {place}", **address)
    assert pulled == [] or place == "curve"  # what is new is first shown, then worked on; a short curve at once
    app.run()
    assert pulled
    assert begun_again == []
    app.run()
    assert begun_again == []
    assert not button(app, stop)
    assert sentences(app) == []
