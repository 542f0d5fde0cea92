"""Linear layers in 8 or 4 bits: what is captured is the quantized model's own, and what it needs is what was said."""

from __future__ import annotations

import importlib.util
import typing
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from transformers.pytorch_utils import Conv1D

from hosting.listed import QUANTIZING, dtypes
from model_runner import load_runner
from model_runner.block_questions import TrainingStep
from model_runner.errors import NotSeparable, RunnerError
from model_runner.local.loading.dtypes import (
    PACKAGES,
    AlreadyQuantized,
    Dtype,
    DtypeUnknown,
    PackageMissing,
    Precision,
    matrix_of,
)
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.preview import ModelPreview
from model_runner.questions import WhichHeads
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.folders import change_config, change_weights, refused, save, touch_nothing
from ui.state.selection import ModelOptions
from ui.state.url_values import options_of

TEXT = "The dog chased the squirrel because it"


def test_what_is_offered_is_what_is_loaded() -> None:
    assert set(options_of(ModelOptions, "dtype")) == set(typing.get_args(Dtype))
    assert QUANTIZING == PACKAGES


@pytest.mark.parametrize("kept", PACKAGES)
def test_without_its_packages_the_sentence_names_them(kept: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch_nothing(monkeypatch)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(PackageMissing) as raised:
        load_runner(str(folder), device="cpu", dtype=kept)
    assert f"“{kept}” needs Python packages that are not installed here: {', '.join(PACKAGES[kept])}." in str(
        raised.value
    )
    assert kept not in dtypes()
    assert "float32" in dtypes()


def test_what_is_quantized_already_is_not_quantized_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch_nothing(monkeypatch)
    change_config(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    packed = {"model.layers.0.self_attn.q_proj.qweight": torch.zeros(4, 32, dtype=torch.int32)}
    change_weights(folder, lambda held: held | packed)
    with pytest.raises(AlreadyQuantized, match="quantized already"):
        load_runner(str(folder), device="cpu", dtype="int8")
    assert refused(folder, RunnerError)


@pytest.mark.parametrize("make", [lambda: nn.Linear(6, 4), lambda: Conv1D(4, 6), lambda: nn.Linear(6, 4, bias=False)])
def test_a_matrix_is_that_which_is_multiplied_by(make: Any) -> None:
    layer, x = make(), torch.randn(3, 6)
    bias: Any = layer.bias
    none = torch.zeros(4) if bias is None else bias
    torch.testing.assert_close(x @ matrix_of(layer).T + none, layer(x))
    if isinstance(layer, nn.Linear):  # and so where the numbers are not to be read

        class Hidden(nn.Linear):
            def forward(self, given: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]  # a name
                return nn.functional.linear(given, self.weight.float() / 2, self.bias)

        hidden = Hidden(6, 4, bias=bias is not None)
        halves: Any = nn.Parameter((torch.arange(24).reshape(4, 6) % 5).to(torch.int8), requires_grad=False)
        hidden.weight = halves
        torch.testing.assert_close(matrix_of(hidden), halves.float() / 2)


def plain(kept: str) -> Any:
    """The quantized model as transformers loads it, untouched by ours."""
    numbers = Precision(torch.float32, kept).options(torch.device("cpu"))
    return AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32, **numbers).eval()


@pytest.mark.long
@pytest.mark.parametrize("kept", PACKAGES)
def test_a_quantized_model_is_captured_as_it_is(kept: Any) -> None:
    for package in PACKAGES[kept]:
        pytest.importorskip(package, reason="requirements-quantized.txt is not installed")
    told: list[ModelPreview] = []
    runner = load_runner("default", device="cpu", dtype=kept, preview=told.append)
    capture, full = (
        runner.capture(CaptureRequest(TEXT)),
        load_runner("default", device="cpu").capture(CaptureRequest(TEXT)),
    )
    assert (runner.info.dtype, told[-1].dtype, capture.request.dtype) == (kept, kept, kept)
    assert runner.info.n_parameters == load_runner("default", device="cpu").info.n_parameters
    model = plain(kept)
    model.set_attn_implementation("eager")
    ids = torch.tensor([[token.id for token in capture.tokens]])
    with torch.no_grad():
        own = model(ids, output_attentions=True)
    for layer in range(capture.n_layers):
        assert capture.verify(layer).ok
        torch.testing.assert_close(
            capture.layer_weights(layer, slice(0, ids.shape[1])), own.attentions[layer][0], atol=1e-4, rtol=0
        )
    torch.testing.assert_close(capture.logits(-1), own.logits[0, -1], atol=1e-3, rtol=1e-3)
    off = (capture.logits(-1) - full.logits(-1)).norm() / full.logits(-1).norm()
    assert 1e-3 < off < 0.5  # it is another model, and not another one altogether
    real = stored(model)
    assert 0.9 * real <= told[-1].needed <= 1.1 * real
    # a later token changes no earlier one: else a text that grows would not be itself
    longer = runner.capture(CaptureRequest(f"{TEXT} was hungry"))
    torch.testing.assert_close(longer.q(3)[:, : ids.shape[1]], capture.q(3), atol=1e-4, rtol=1e-3)
    steps = list(runner.generate(GenerateRequest(TEXT, 4)))
    assert len(steps) == 4
    assert steps[0].token.id == int(own.logits[0, -1].argmax())
    answers = runner.submit(WhichHeads(capture.request, 3, steps[0].token.id)).result()
    assert answers is not None
    with pytest.raises(NotSeparable, match="quantized, and whole numbers have no gradient"):
        runner.submit(TrainingStep(capture.request, (0.1,))).result()


def stored(model: Any) -> int:
    """Bytes of all its weights, as they lie in memory."""
    total = 0
    for weight in model.parameters():
        parts = getattr(weight, "__tensor_flatten__", None)
        names = parts()[0] if parts is not None else []
        total += sum(getattr(weight, name).nbytes for name in names) if names else weight.nbytes
        state = getattr(weight, "quant_state", None)
        total += 0 if state is None else state.absmax.nbytes
    return total


@pytest.mark.long
def test_llm_int8_is_not_offered_because_an_earlier_token_would_see_later_ones() -> None:
    pytest.importorskip("bitsandbytes", reason="requirements-quantized.txt is not installed")
    how: Any = BitsAndBytesConfig(load_in_8bit=True)
    model: Any = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32, quantization_config=how)
    ids = torch.arange(20, 60)[None]
    with torch.no_grad():
        whole, first = model(ids).logits[:, :20].float(), model(ids[:, :20]).logits.float()
    assert float((whole - first).abs().max()) > 0.1  # once this fails it can be offered


@pytest.mark.parametrize("dtype", ["float99", "load", "", "float64"])
def test_a_number_format_that_there_is_not_is_told_with_those_that_there_are(dtype: Any, folder: Path) -> None:
    with pytest.raises(DtypeUnknown) as raised:
        load_runner(str(save(folder)), dtype=dtype)
    known = "auto, float32, bfloat16, float16, int8, nf4"
    assert f"There is no number format “{dtype}”; there are: {known}." in str(raised.value)
