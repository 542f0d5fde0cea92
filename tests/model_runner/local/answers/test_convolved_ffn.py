"""A depth-wise convolution in a feed-forward part: against loops over tokens, neutral at the neutral kernel, causal."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest
from model_runner.block_questions import ConvolvedFeedForward
from model_runner.errors import EditNotPossible, NotSeparable
from tests.model_runner.cases import TEXT, shared_runner

KERNEL = (0.2, -0.3, 0.6)
# The first matrices and the last, and how the last one's input is made of what the first make.
PARTS = {
    "llama": (
        ("model.layers.1.mlp.gate_proj", "model.layers.1.mlp.up_proj"),
        "model.layers.1.mlp.down_proj",
        lambda gate, up: torch.nn.functional.silu(gate) * up,
    ),
    "bert": (
        ("bert.encoder.layer.1.intermediate.dense",),
        "bert.encoder.layer.1.output.dense",
        torch.nn.functional.gelu,
    ),
}


def by_loops(rows: Tensor, ahead: int) -> Tensor:
    """Σ over three tokens of the kernel times each one's units; beyond the text is nothing."""
    found = torch.zeros_like(rows)
    for token in range(len(rows)):
        for at, factor in enumerate(KERNEL):
            other = token - 2 + ahead + at
            if 0 <= other < len(rows):
                found[token] += factor * rows[other]
    return found


@pytest.mark.parametrize("name, ahead", [("llama", 0), ("bert", 1)])
def test_what_the_part_makes_is_that_of_convolved_units_by_loops(name: str, ahead: int) -> None:
    runner, made = shared_runner(name), dict[str, Tensor]()
    first, last, inner = PARTS[name]
    modules = runner.engine.model.get_submodule
    hooks = [
        modules(one).register_forward_hook(lambda _m, _i, out, one=one: made.__setitem__(one, out[0].double()))
        for one in first
    ]
    plain = runner.capture(CaptureRequest(TEXT))
    for hook in hooks:
        hook.remove()
    found = runner.submit(ConvolvedFeedForward(CaptureRequest(TEXT), 1, KERNEL, ahead)).result()
    down = modules(last)
    for rows, output in (
        ([made[one] for one in first], found.before),
        ([by_loops(made[one], ahead) for one in first], found.after),
    ):
        expected = torch.nn.functional.linear(
            inner(*rows), down.weight.double(), None if down.bias is None else down.bias.double()
        )
        torch.testing.assert_close(output.double(), expected, rtol=1e-4, atol=1e-5)
    assert (found.hidden - plain.hidden.cpu()).abs().max() > 1e-4


NEUTRAL = {0: (0.0, 0.0, 1.0), 1: (0.0, 1.0, 0.0)}  # by how far it reaches ahead


@pytest.mark.parametrize("name, ahead", [("llama", 0), ("bert", 1), ("phi3", 0)])
def test_the_neutral_kernel_changes_nothing(name: str, ahead: int) -> None:
    found = shared_runner(name).submit(ConvolvedFeedForward(CaptureRequest(TEXT), 1, NEUTRAL[ahead], ahead)).result()
    torch.testing.assert_close(found.after, found.before)
    torch.testing.assert_close(found.hidden, shared_runner(name).capture(CaptureRequest(TEXT)).hidden.cpu())


def test_in_a_causal_model_no_token_hears_of_later_ones() -> None:
    short, long = (
        shared_runner("llama").submit(ConvolvedFeedForward(CaptureRequest(text), 0, KERNEL)).result()
        for text in (TEXT[:5], TEXT)
    )
    torch.testing.assert_close(long.hidden[: len(short.hidden)], short.hidden, rtol=1e-4, atol=1e-5)


def test_a_kernel_that_is_none_and_a_part_that_is_not_known_are_one_sentence() -> None:
    with pytest.raises(EditNotPossible, match="three finite numbers"):
        ConvolvedFeedForward(CaptureRequest(TEXT), 0, (0.0, 0.0, float("nan")))
    with pytest.raises(NotSeparable, match="experts"):
        shared_runner("mixtral").submit(ConvolvedFeedForward(CaptureRequest(TEXT), 1, KERNEL)).result()
