"""An adapter's folder opens as its base with the changes: what is computed is what peft's own forward computes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import IA3Config, LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from model_runner.capture import Capture
from model_runner.local.loading.loader import load_runner
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny

TEXT = "An adapter, 适配器"
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
FAMILIES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "llama": (AutoModelForCausalLM, {"num_key_value_heads": 2}, ["q_proj", "v_proj"]),
    "gpt2": (AutoModelForCausalLM, {}, ["c_attn", "c_proj"]),
    "t5": (AutoModelForSeq2SeqLM, {"d_kv": 8, "num_heads": 4, "num_layers": 2, "d_ff": 48}, ["q", "v", "wo"]),
    "bert": (AutoModelForMaskedLM, {}, ["query", "key", "dense"]),
}


def made(folder: Path, family: str = "llama", config: Any = None) -> tuple[Path, PeftModel]:
    """A base in ``folder/base`` and an adapter in ``folder/adapter``, and what peft makes of both; all of it random."""
    auto, sizes, targets = FAMILIES[family]
    save(folder / "base", tiny(family, auto, **sizes)())
    base = auto.from_pretrained(folder / "base", attn_implementation="eager", dtype=torch.float32)
    config = config or LoraConfig(r=4, lora_alpha=8, target_modules=targets)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(action="ignore"):
        torch.manual_seed(1)
        model = get_peft_model(base, config)
        for name, parameter in model.named_parameters():
            if any(part in name for part in ("lora_", "ia3_", "modules_to_save")):
                parameter.data = parameter.data + 0.2 * torch.randn_like(parameter)
        model.save_pretrained(str(folder / "adapter"))
    return folder / "adapter", model.eval()


def opened(folder: Path, **options: Any) -> LocalRunner:
    return load_runner(str(folder), device="cpu", dtype="float32", **options)


def captured(runner: LocalRunner) -> Capture:
    return runner.capture(CaptureRequest(TEXT, **({"target": "x"} if runner.info.attentions else {})))


def logits_of(capture: Capture) -> torch.Tensor:
    """Of every token; of an encoder–decoder of what is written."""
    drawn = capture.attention("decoder") if capture.attentions else capture
    return torch.stack([drawn.logits(position) for position in range(len(drawn.tokens))])


def peft_logits(model: PeftModel, runner: LocalRunner) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    """Of peft's forward of the same tokens with eager attention: logits, and the weights of each layer."""
    capture = captured(runner)
    given: dict[str, Any] = {}
    if runner.info.attentions:
        parts = {"input_ids": capture.attention("encoder"), "decoder_input_ids": capture.attention("decoder")}
        given = {name: torch.tensor([[token.id for token in one.tokens]]) for name, one in parts.items()}
    else:
        given["input_ids"] = torch.tensor([[token.id for token in capture.tokens]])
    with torch.no_grad():
        said = model(**given, output_attentions=True)
    attentions = said.decoder_attentions if runner.info.attentions else said.attentions
    return said.logits[0], tuple(one[0] for one in attentions)


def agrees(folder: Path, model: PeftModel) -> LocalRunner:
    """Logits and weights of every layer are peft's, and those without the adapter are the base's own, to the bit."""
    runner = opened(folder)
    capture = captured(runner)
    logits, attentions = peft_logits(model, runner)
    drawn = capture.attention("decoder") if runner.info.attentions else capture
    for layer, weights in enumerate(attentions):
        assert all(
            (drawn.weights(layer, head) - own).abs().nan_to_num().max() < 1e-5 for head, own in enumerate(weights)
        )
        assert drawn.verify(layer).ok
    assert (logits_of(capture) - logits).abs().max() < 1e-5 * max(1.0, float(logits.abs().max()))
    assert runner.base is not None
    alone = opened(folder.with_name("base"))
    assert torch.equal(logits_of(captured(runner.base)), logits_of(captured(alone)))
    assert not torch.allclose(logits_of(capture), logits_of(captured(alone)), atol=1e-2)
    return runner


@pytest.mark.parametrize("family", FAMILIES)
def test_an_adapted_model_computes_what_peft_computes(family: str, tmp_path: Path) -> None:
    runner = agrees(*made(tmp_path, family))
    assert runner.info.adapter is not None
    assert runner.info.adapter.kind == "LoRA"
    assert runner.info.adapter.ranks == (4,)


KINDS: dict[str, tuple[str, Any]] = {
    "rsLoRA": ("llama", LoraConfig(r=4, lora_alpha=3, use_rslora=True, target_modules=["o_proj"])),
    "DoRA": ("llama", LoraConfig(r=2, use_dora=True, target_modules=["q_proj", "down_proj"])),
    "DoRA, Conv1D": ("gpt2", LoraConfig(r=2, use_dora=True, target_modules=["c_attn"])),
    "a rank by pattern": (
        "llama",
        LoraConfig(
            r=2,
            target_modules=["q_proj", "k_proj"],
            rank_pattern={"k_proj": 3, "layers.1.self_attn.q_proj": 1},
            alpha_pattern={"^model.layers.0.self_attn.k_proj": 40},
        ),
    ),
    "biases": ("bert", LoraConfig(r=2, bias="all", target_modules=["query"])),
    "biases of the change": ("llama", LoraConfig(r=2, lora_bias=True, target_modules=["k_proj"])),
    "whole modules": ("llama", LoraConfig(r=2, target_modules=["q_proj"], modules_to_save=["lm_head", "norm"])),
    "a tied table": ("gpt2", LoraConfig(r=2, target_modules=["c_attn"], modules_to_save=["wte"])),
    "an embedding": ("llama", LoraConfig(r=2, target_modules=["embed_tokens", "v_proj"])),
    "a tied embedding": ("gpt2", LoraConfig(r=2, target_modules=["wte", "c_attn"])),
    "DoRA, embedding": ("llama", LoraConfig(r=2, use_dora=True, target_modules=["embed_tokens"])),
    "some layers": (
        "llama",
        LoraConfig(r=2, target_modules=["q_proj"], layers_to_transform=[0, 2], layers_pattern="layers"),
    ),
    "all linear": ("llama", LoraConfig(r=2, target_modules="all-linear")),
    "a pattern": (
        "llama",
        LoraConfig(r=2, target_modules=r".*\.(0|2)\..*\.(q|k)_proj", exclude_modules=["0.self_attn.k_proj"]),
    ),
    "IA³": ("llama", IA3Config(target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"])),
    "IA³, Conv1D": ("gpt2", IA3Config(target_modules=["c_attn", "mlp.c_proj"], feedforward_modules=["mlp.c_proj"])),
    "IA³, T5": ("t5", IA3Config(target_modules=["k", "v", "wo"], feedforward_modules=["wo"])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_change_is_peft_s(kind: str, tmp_path: Path) -> None:
    family, config = KINDS[kind]
    runner = agrees(*made(tmp_path, family, config))
    assert runner.info.adapter is not None
    name = kind.split(",")[0]
    assert runner.info.adapter.kind == (name if name in ("rsLoRA", "DoRA", "IA³") else "LoRA")
