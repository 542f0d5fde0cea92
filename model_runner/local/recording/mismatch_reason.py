"""Explains why a model's recorded attention does not reproduce its output, if the cause can be determined by trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model_runner.errors import N_
from model_runner.local.recording.matmul_tracer import MatmulTracer

CHANGES = N_("its output changes when its attention goes through the one that records")
UNEXPLAINED = N_("what it multiplies does not explain what its attention returns")
CHANGED_OUTPUT = N_("its own code changes what its attention returned, which cannot be read")


def mismatch_reason(forward: Callable[[], Any]) -> str:
    """The reason for a model whose traces do not give the output of its attention.

    Some code adds to that output in place, which is detected by torch's count of such changes.
    """
    tracer = MatmulTracer()
    with tracer:
        forward()
    changed = any(traced.output._version for traced in tracer.traced)
    return CHANGED_OUTPUT if changed else UNEXPLAINED
