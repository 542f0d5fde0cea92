"""Modules that work row by row process a long text in blocks with the same result; others are not split."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM, PreTrainedModel

from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.recording import chunked_feed_forward
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.tiny import N_LAYERS, byte_tokenizer, tiny

TEXT = "a text of thirty-eight bytes, in blocks"
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}


def _captured(build: Callable[[], PreTrainedModel]) -> tuple[list[int], list[Tensor]]:
    """How many rows the widest matrix of a layer took at once, at most, and what the capture says."""
    model, rows = build(), []
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features == 48:
            module.register_forward_hook(lambda _, given, made: rows.append(given[0].shape[-2]))
    runner = LocalRunner(model, byte_tokenizer(), name="tiny", device="cpu", kept=ByteBudgetCache(0))
    try:
        rows.clear()
        capture = runner.capture(CaptureRequest(text=TEXT))
        return rows, [*capture.residuals, capture.hidden, capture.logits(-1)]
    finally:
        runner.worker.close()


@pytest.mark.parametrize(
    "build",
    [
        tiny("llama"),
        tiny("gemma2", head_dim=8, num_key_value_heads=2),
        tiny("mixtral", num_key_value_heads=2, **EXPERTS),
        tiny("gpt_neox"),
        tiny("bert", auto=AutoModelForMaskedLM),
    ],
    ids=["llama", "gemma2", "mixtral", "gpt_neox", "bert"],
)
def test_blocks_say_what_the_whole_says(build: Callable[[], PreTrainedModel], monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = _captured(build)
    monkeypatch.setattr(chunked_feed_forward, "ROWS", 5)
    _, blocks = _captured(build)
    for one, other in zip(whole, blocks, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_a_long_text_goes_through_the_feed_forward_parts_in_blocks_and_a_short_one_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, _ = _captured(tiny("llama"))
    assert rows == [len(TEXT)] * 2 * N_LAYERS
    monkeypatch.setattr(chunked_feed_forward, "ROWS", 15)
    rows, _ = _captured(tiny("llama"))
    tried, blocks = rows[: -2 * 3 * N_LAYERS], rows[-2 * 3 * N_LAYERS :]
    assert max(tried) == chunked_feed_forward.TRIED
    assert sorted(blocks) == [len(TEXT) - 30] * 2 * N_LAYERS + [15] * 4 * N_LAYERS


def test_a_text_that_is_long_on_a_cpu_is_short_on_a_gpu() -> None:
    assert chunked_feed_forward.is_long(2 * chunked_feed_forward.ROWS + 1, torch.device("cpu"))
    assert not chunked_feed_forward.is_long(2 * chunked_feed_forward.ROWS + 1, torch.device("cuda"))
    assert chunked_feed_forward.is_long(2 * chunked_feed_forward.ROWS_ON_GPU + 1, torch.device("cuda"))


def test_what_mixes_rows_or_takes_more_than_them_is_left_whole() -> None:
    model = tiny("llama")()
    layers = tuple(model.model.layers)
    layers[0].mlp = _Mixing(layers[0].mlp, lambda hidden: hidden.cumsum(dim=1))
    layers[1].mlp = _Mixing(layers[1].mlp, lambda hidden: hidden + 1e-3 * hidden.roll(-1, 1))
    attention = frozenset(layer.self_attn for layer in layers)
    found = chunked_feed_forward.row_wise_parts(model, layers, attention)
    assert found == (layers[2].mlp,)


class _Mixing(nn.Module):
    def __init__(self, inner: nn.Module, mix: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.inner, self.mix = inner, mix

    def forward(self, hidden: Tensor) -> Tensor:
        return self.inner(self.mix(hidden))
