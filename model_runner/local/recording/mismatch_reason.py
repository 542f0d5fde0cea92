"""Why what is recorded of a model is not what it says: the cause where it can be tried out, else that it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model_runner.errors import N_
from model_runner.local.recording.matmul_tracer import Products

CHANGES = N_("what it says changes when its attention goes through the one that records")
UNEXPLAINED = N_("what it multiplies does not explain what its attention returns")
CHANGED_OUTPUT = N_("its own code changes what its attention returned, and that is not read")


def why_unexplained(forward: Callable[[], Any]) -> str:
    """The reason, for a model whose products do not give what was recorded as the output of its attention.

    Some code adds something to it in place: torch counts such changes of a tensor.
    """
    products = Products()
    with products:
        forward()
    changed = any(heard.output._version for heard in products.heard)
    return CHANGED_OUTPUT if changed else UNEXPLAINED
