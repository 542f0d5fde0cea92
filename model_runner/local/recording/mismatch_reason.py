"""Why what is recorded of a model is not what it says: the cause where it can be tried out, else that it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model_runner.errors import N_
from model_runner.local.recording.matmul_tracer import MatmulTracer

CHANGES = N_("its output changes when its attention goes through the one that records")
UNEXPLAINED = N_("what it multiplies does not explain what its attention returns")
CHANGED_OUTPUT = N_("its own code changes what its attention returned, which cannot be read")


def mismatch_reason(forward: Callable[[], Any]) -> str:
    """The reason, for a model whose tracer do not give what was recorded as the output of its attention.

    Some code adds something to it in place: torch counts such changes of a tensor.
    """
    tracer = MatmulTracer()
    with tracer:
        forward()
    changed = any(traced.output._version for traced in tracer.traced)
    return CHANGED_OUTPUT if changed else UNEXPLAINED
