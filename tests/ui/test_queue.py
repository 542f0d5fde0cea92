"""What a page shows while its model answers others first."""

from __future__ import annotations

import threading

import pytest
from streamlit.runtime.scriptrunner import StopException

from tests.ui.driving import components, local_models, open_app, sentences
from ui.shell import page


@pytest.mark.parametrize("lang, words", [("en", "2 ahead of you …"), ("zh", "你前面还有 2 个请求……")])
def test_a_page_says_how_many_questions_its_model_answers_before_its_own(monkeypatch, lang, words):
    app = open_app(lang=lang)
    worker = local_models().open("default").result().worker
    gate, real = threading.Event(), page.show_stage
    others = [worker.submit(lambda _job: gate.wait(60), session=name) for name in ("one", "other")]

    def show_stage(stage: str, done: int, total: int) -> None:
        """A run that is looked at ends when it says that it waits: AppTest (1.67) sees whole runs alone."""
        real(stage, done, total)
        if stage == "queue":
            raise StopException

    monkeypatch.setattr(page, "show_stage", show_stage)
    try:
        app.text_area(key="text_box").set_value(f"A text that nobody asked for before, {lang}").run()
        (bar,) = app.get("progress")
        assert bar.proto.text == words
        assert "head_grid" not in components(app)
    finally:
        gate.set()
    assert all(job.result() for job in others)
    app.run()
    assert not app.get("progress")
    assert sentences(app) == []
    assert "head_grid" in components(app)
