"""The sums of feed-forward units: every shown number from the others, and from the modules by plain hooks."""

from __future__ import annotations

import math

import pytest
import torch

from attention.activations import ACTIVATIONS
from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import FeedForwardSums
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.local.answers.test_ffn_units import WRITTEN

TIGHT = 1e-4


@pytest.mark.parametrize("name", WRITTEN)
def test_every_number_follows_from_the_ones_before_it(name: str) -> None:
    found = shared_runner(name).submit(FeedForwardSums(CaptureRequest(TEXT), 1, 5, 10**6)).result()
    act = ACTIVATIONS[found.activation]
    for place in range(len(found.units)):
        column, bias = found.gate[:, place].tolist(), found.gate_bias
        total = math.fsum(x * w for x, w in zip(found.read.tolist(), column, strict=True))
        total += 0.0 if bias is None else float(bias[place])
        assert float(found.before[place]) == pytest.approx(total, abs=TIGHT)
        value = float(act(found.before[place]))
        if found.up is not None and found.raised is not None:
            pairs = zip(found.read.tolist(), found.up[:, place].tolist(), strict=True)
            raised = math.fsum(x * w for x, w in pairs)
            raised += 0.0 if found.up_bias is None else float(found.up_bias[place])
            assert float(found.raised[place]) == pytest.approx(raised, abs=TIGHT)
            value *= raised
        assert float(found.values[place]) == pytest.approx(value, abs=TIGHT)
    assert len(found.units) == found.width  # all of them: then the sum is whole
    made = sum((value * row for value, row in zip(found.values, found.down, strict=True)), torch.zeros(()))
    made = made + (0 if found.down_bias is None else found.down_bias)
    torch.testing.assert_close(made, found.added, rtol=TIGHT, atol=TIGHT)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_read_and_made_is_the_modules(name: str) -> None:
    runner, seen = shared_runner(name), {}
    first, last = (runner.engine.model.get_submodule(path) for path in WRITTEN[name])
    hooks = [
        module.register_forward_hook(lambda _, args, output, key=key: seen.update({key: (args[0], output)}))
        for key, module in (("first", first), ("last", last))
    ]
    found = runner.submit(FeedForwardSums(CaptureRequest(TEXT), 1, 5, 3)).result()
    for hook in hooks:
        hook.remove()
    read, added = seen["first"][0], seen["last"][1]
    torch.testing.assert_close(found.read, read.reshape(-1, read.shape[-1])[5].float())
    torch.testing.assert_close(found.added, added.reshape(-1, added.shape[-1])[5].float())
    lengths = found.down.norm(dim=1) * found.values.abs()
    assert lengths.tolist() == sorted(lengths.tolist(), reverse=True)


def test_of_a_translator_the_stack_that_is_looked_at_is_meant() -> None:
    runner = load_runner("translator")
    found = [
        runner.submit(FeedForwardSums(CaptureRequest("A dog sleeps.", attention=stack), 1, 2)).result()
        for stack in ("encoder", "decoder")
    ]
    assert not torch.equal(found[0].gate, found[1].gate)
