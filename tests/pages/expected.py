"""What the pages must show for the embedded model, computed with the public API."""

from __future__ import annotations

import functools

import numpy as np

from model_runner import Capture, CaptureRequest, load_runner
from model_runner.edits import Edit
from model_runner.local.runner import LocalRunner
from ui.state.url_state import DEFAULT_TEXT

# One float32 softmax or product against another order of the same sums: a few units in the last place of 1.
ROUNDING = 1e-5


@functools.cache
def runner(model: str = "default") -> LocalRunner:
    return load_runner(model)


@functools.cache
def capture(text: str = DEFAULT_TEXT, model: str = "default", edits: tuple[Edit, ...] = ()) -> Capture:
    return runner(model).capture(CaptureRequest(text, edits=edits))


def masked(values: np.ndarray) -> np.ndarray:
    """NaN above the diagonal, where a causal model does not look."""
    return np.where(np.tri(len(values), dtype=bool), values, np.nan).astype(np.float32)


def weights(layer: int = 3, head: int = 7, text: str = DEFAULT_TEXT) -> np.ndarray:
    return capture(text).weights(layer, head).numpy()
