"""Quantized weights: a missing package or GPU is named, as transformers itself would require it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from transformers import AutoModelForCausalLM
from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING, AutoQuantizationConfig

from model_runner.errors import RunnerError
from model_runner.local.loading import quantized_weights
from model_runner.local.loading.quantized_weights import (
    PACKAGES,
    NotQuantized,
    QuantizedFails,
    QuantizedNeedsGpu,
    QuantizedNeedsPackages,
    check_quantized,
    method_of,
)
from tests.model_runner.folders import change_config, change_weights, load, refused

METHODS: dict[str, dict[str, Any]] = {
    "gptq": {"bits": 4},
    "awq": {"bits": 4},
    "bitsandbytes": {"load_in_4bit": True},
    "compressed-tensors": {},
    "fp8": {},
    "mxfp4": {},
    "torchao": {"quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_data": {}, "_version": 1}}},
    "quanto": {"weights": "int8"},
    "hqq": {},
    "aqlm": {},
    "eetq": {},
    "vptq": {"config_for_layers": {"a": {}}},
    "spqr": {},
    "bitnet": {},
    "quark": {},
    "auto-round": {},
    "fbgemm_fp8": {},
    "fouroversix": {},
}


@pytest.mark.parametrize("method", METHODS)
def test_what_transformers_would_miss_is_told_first(method: str) -> None:
    """Where its own look at the environment fails, ours has; where it is content, so are we."""
    given = {"quant_method": method, **METHODS[method]}
    assert method_of({"quantization_config": given}) == method
    theirs = ""
    try:
        config: Any = AutoQuantizationConfig.from_dict(dict(given))
        key = "bitsandbytes_4bit" if method == "bitsandbytes" else method
        made: Any = AUTO_QUANTIZER_MAPPING[key](config, pre_quantized=True)
        made.validate_environment(dtype=torch.float32, device_map=None)
    except (ImportError, RuntimeError, NotImplementedError) as error:
        theirs = str(error)
    if not theirs:
        check_quantized("a/model", {"quantization_config": given}, "cpu")
        return
    with pytest.raises((QuantizedNeedsPackages, QuantizedNeedsGpu)) as raised:
        check_quantized("a/model", {"quantization_config": given}, "cpu")
    assert method in str(raised.value)
    assert "download it again" not in str(raised.value)


@pytest.mark.parametrize("method", PACKAGES)
def test_the_packages_are_named_as_pip_has_them(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(quantized_weights, "ON_A_GPU", ())
    with pytest.raises(QuantizedNeedsPackages) as raised:
        check_quantized("a/model", {"quantization_config": {"quant_method": method}}, "cpu")
    assert f"pip install {raised.value.values['packages']}" in str(raised.value)
    assert "_" not in raised.value.values["packages"]


def test_a_folder_says_which_package_is_missing(folder: Path) -> None:
    change_config(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    packed = {"model.layers.0.self_attn.q_proj.qweight": torch.zeros(4, 32, dtype=torch.int32)}
    change_weights(folder, lambda held: held | packed)
    sentence = refused(folder, QuantizedNeedsPackages)
    assert "are quantized (gptq)" in sentence
    assert "pip install gptqmodel optimum" in sentence


def test_plain_weights_under_a_configuration_of_quantized_ones_are_said_to_be_plain(folder: Path) -> None:
    change_config(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    sentence = refused(folder, NotQuantized)
    assert "its files hold plain ones. Take quantization_config out of config.json" in sentence
    change_config(folder, quantization_config=None)
    assert load(folder).verify(0).ok


@pytest.mark.parametrize("given", ["nonsense", [1], {"quant_method": "fp8", "weight_block_size": "x"}])
def test_settings_of_nonsense_are_one_sentence(given: Any, folder: Path) -> None:
    change_config(folder, quantization_config=given)
    with pytest.raises(RunnerError) as raised:
        load(folder)
    assert "\n" not in str(raised.value)


def test_what_a_quantizer_raises_is_no_broken_download(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise ImportError("only on the moon")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fail)
    change_config(folder, quantization_config={"quant_method": "unheard"})
    sentence = refused(folder, QuantizedFails)
    assert "are quantized (unheard), and cannot be read here: only on the moon" in sentence
    assert "again" not in sentence
