"""The sampling bench on a separate page with the embedded model's logits, for browser tests."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from model_runner import Capture, CaptureRequest, load_runner
from model_runner.sampling import draw, stages, uniforms
from model_runner.transforms import Sampling
from tests.viz.components.clock import wait
from tests.viz.components.test_sampling_bench import bench

ROOT = ".sampling-bench"
WIDE = "section{max-width:1080px}"
AFTER_DOG = 2  # the query after which many tokens are possible
EXACT = 1e-9  # float64 sums in another order; 1e-6 is asked for


@functools.cache
def capture() -> Capture:
    return load_runner("default").capture(CaptureRequest(text="The dog chased the squirrel because it"))


@functools.cache
def labels() -> list[str]:
    runner = load_runner("default")
    return [runner.token_text(token) for token in range(runner.info.n_vocab)]


def logits() -> torch.Tensor:
    return capture().logits(AFTER_DOG)


def previous() -> tuple[int, ...]:
    return tuple(token.id for token in capture().tokens[: AFTER_DOG + 1])


def on_the_model(**options: Any) -> bytes:
    given = {"previous": previous(), "actual": capture().tokens[AFTER_DOG + 1].id, "position": AFTER_DOG + 1}
    return bench(logits().numpy(), labels(), **{**given, **options})


def state(page, expression: str) -> Any:
    """Something the bench holds, as it is after the next frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(ROOT).evaluate(f"({{ atlas: state }}) => {expression}")


def final(page, name: str = "a") -> np.ndarray:
    return np.array(state(page, f"Array.from(state.results.{name}.final)"))


def expected(sampling: Sampling) -> np.ndarray:
    return stages(logits(), sampling, previous())[-1].probabilities.numpy()


def sent(page) -> list[Any]:
    """Every value of the trigger so far, once what is due has been sent."""
    wait(page, 400)
    return [value for _, name, value in page.evaluate("window.calls") if name == "settings"]


def slider(page, name: str):
    return page.locator(f"[data-transform={name}] input[type=range]")


def row(page, name: str):
    return page.locator(f"[data-transform={name}]")


def type_value(page, name: str, text: str) -> None:
    field = row(page, name).locator(".value")
    field.fill(text)
    field.press("Enter")
    state(page, "0")


def drawn(sampling: Sampling, count: int) -> list[int]:
    probabilities = stages(logits(), sampling, previous())[-1].probabilities
    return [draw(probabilities, number) for number in uniforms(sampling.seed, AFTER_DOG + 1, count)]
