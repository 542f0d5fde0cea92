"""A capture that outlives its model: its numbers, and nobody to ask for more."""

from __future__ import annotations

from dataclasses import replace

from model_runner.capture import Capture


def away(capture: Capture) -> Capture:
    """The same numbers without the model, which whoever keeps them would hold in memory."""
    others = tuple(replace(other, asked=None) for other in capture.others)
    return replace(capture, asked=None, others=others)
