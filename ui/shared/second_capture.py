"""A second text beside the page's own, read by the same model: suggested or typed, and cached for the session."""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

from jobs.second_text import OneCapture, Say, read, suggestion
from model_runner import Capture
from model_runner.errors import EmptyText
from ui.shell.page import PageContext
from ui.state import session
from ui.state.frame_slots import frame_slots
from ui.wording.i18n import _
from ui.wording.loading_stages import STAGES


def suggested_capture(opened: PageContext, name: str) -> Capture | None:
    """A suggested text of equally many tokens with one word replaced, or None; ``name`` is the job's name."""
    capture = opened.capture
    key = (ref(opened.runner), capture.request)
    return _kept(f"{name}_suggestion", key, lambda owner, say: suggestion(opened.runner, capture, owner, say))


def typed_capture(opened: PageContext, name: str, text: str) -> Capture | None:
    """The capture of the typed text. Raises RunnerError."""
    if not text.strip():
        raise EmptyText()
    key = (ref(opened.runner), opened.capture.request, text)
    return _kept(f"{name}_typed", key, lambda owner, say: read(opened.runner, opened.capture, text, owner, say))


def _kept(name: str, key: object, look: Callable[[str, Say], Capture | None]) -> Capture | None:
    """The capture cached for this key, or the result of ``look``."""
    held: OneCapture = session.jobs().get(name, key, lambda owner: OneCapture(lambda say: look(owner, say)))
    try:
        return held.find(_say)
    finally:
        frame_slots().status.empty()


def _say() -> None:
    stage = STAGES["reading"]
    frame_slots().status.progress(0.0, text=_(stage))
