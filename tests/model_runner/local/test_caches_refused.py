"""A model that misuses its cache cannot continue a text, through any request, but can be captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model_runner.errors import CannotContinue
from model_runner.questions import Beams, CacheLayers
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.cases import FAMILY, runner_of


def no_cache(output: Callable[..., Any], cache: Any, **options: Any) -> Any:
    return output(**options)


def other_numbers(output: Callable[..., Any], cache: Any, **options: Any) -> Any:
    scale = 1.0 if cache.get_seq_length() == 0 else 1.01
    made = output(past_key_values=cache, **options)
    made.last_hidden_state *= scale
    return made


def one_that_it_refuses(output: Callable[..., Any], cache: Any, **options: Any) -> Any:
    raise ValueError("past_key_values must be a cache of its own")


@pytest.mark.parametrize(
    "change, reason",
    [
        (no_cache, "it keeps no cache of keys and values"),
        (other_numbers, "with its cache it gives different numbers than on the whole text at once"),
        (one_that_it_refuses, "it does not accept the cache .* (past_key_values must be a cache of its own)"),
    ],
)
def test_a_model_whose_cache_is_not_used_as_it_should_be_is_refused(
    change: Callable[..., Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = runner_of(FAMILY["llama"])
    backbone, text = runner.engine.structure.backbone.module, GenerateRequest("hello")
    forward = backbone.forward

    def changed(past_key_values: Any = None, **options: Any) -> Any:
        return forward(**options) if past_key_values is None else change(forward, past_key_values, **options)

    monkeypatch.setattr(backbone, "forward", changed)
    asked = (lambda: next(runner.generate(text)), lambda: next(runner.race(text)),
             lambda: runner.submit(Beams(text, 2)).result(),
             lambda: runner.submit(CacheLayers(CaptureRequest("hello"))).result())  # fmt: skip
    for ask in asked:
        with pytest.raises(CannotContinue, match=reason.replace("(", r"\(").replace(")", r"\)")):
            ask()
    assert runner.capture(CaptureRequest("hello")).verify(0).ok
