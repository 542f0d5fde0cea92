"""Captures that outlive their model: the recorded numbers without a runner for further questions."""

from __future__ import annotations

from dataclasses import replace

from model_runner.capture import Capture


def away(capture: Capture) -> Capture:
    """The same numbers without the model, so that whoever keeps them does not keep it in memory."""
    others = tuple(replace(other, asked=None) for other in capture.others)
    return replace(capture, asked=None, others=others)
