"""What transformers' own cache holds of the session's text, measured once: two pages draw it."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.waiting import waited
from model_runner import CaptureRequest
from model_runner.kv import CachedLayer
from model_runner.questions import CacheLayers
from ui import session
from ui.i18n import _
from ui.page import PageContext


@dataclass(frozen=True)
class _Measured:
    layers: tuple[CachedLayer, ...]

    def close(self) -> None:
        """Nothing is under way."""


def cached_layers(opened: PageContext) -> tuple[CachedLayer, ...]:
    """One entry a layer of the model. Raises RunnerError."""
    request = opened.capture.request
    return session.jobs().get("cache layers", request, lambda name: _measured(opened, request, name)).layers


def _measured(opened: PageContext, request: CaptureRequest, name: str) -> _Measured:
    job = opened.runner.submit(CacheLayers(request), session=name)
    status = session.slots()["status"]
    try:
        return _Measured(waited(job, lambda: status.progress(0.0, text=_("Reading the text …"))))
    finally:
        status.empty()
