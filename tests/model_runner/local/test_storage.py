"""A capture grows with the tokens, not with their square, and knows its own size; for every family."""

from __future__ import annotations

import pytest

from model_runner.capture import Capture
from model_runner.request import CaptureRequest
from tests.model_runner.cases import FAMILY, runner_of
from tests.model_runner.families import often
from tests.model_runner.stored import stored_bytes, stored_tensors
from tests.model_runner.tiny import MAX_TOKENS

pytestmark = pytest.mark.table


@pytest.mark.parametrize("name", often(FAMILY))
def test_nothing_kept_is_as_large_as_queries_times_keys(name: str) -> None:
    runner = runner_of(FAMILY[name])
    captures = {tokens: _used(runner.capture(CaptureRequest(text=_text(tokens)))) for tokens in (96, 192, 384)}
    for tokens, capture in captures.items():
        assert len(capture.tokens) == tokens
    # 384² exceeds every per-token size of these models (the widest: 384 tokens × 264 vocabulary entries).
    assert max(tensor.numel() for tensor in stored_tensors(captures[384])) < 384 * 384
    for short, long in ((96, 192), (192, 384)):
        # 2 is proportional growth, anything quadratic would pull towards 4; 2.2 leaves room for constant-size parts.
        assert stored_bytes(captures[long]) <= 2.2 * stored_bytes(captures[short])


@pytest.mark.parametrize("name", often(FAMILY))
def test_nbytes_is_what_is_kept(name: str) -> None:
    capture = runner_of(FAMILY[name]).capture(CaptureRequest(text=_text(192)))
    # Not counted: cos and sin (shared by the layers). Counted twice: a residual that is also the last hidden state.
    # A view that kept a fused projection alive would weigh two or three times as much.
    assert 0.9 <= stored_bytes(capture) / capture.nbytes <= 1.15


def _used(capture: Capture) -> Capture:
    """The capture after everything was asked of it once, so that what it remembers counts too."""
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            capture.weights(layer, 0)
            capture.lse(layer)
            capture.verify(layer)
    capture.logits(-1)
    return capture


def _text(tokens: int) -> str:
    assert tokens <= MAX_TOKENS
    return ("the dog chased the squirrel because it " * tokens)[:tokens]
