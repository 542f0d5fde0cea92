"""Sizes of models by formula: against transformers' own models on the meta device, and published numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    OpenAIGPTConfig,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

from analysis.decoder_sizes import BY_NAME, KNOWN_SHAPES, DecoderSizes, shape_of
from model_runner.block_questions import WhatItIsMadeOf
from tests.analysis.made import embedded

PUBLISHED = {  # numbers in the safetensors of the hub; GPT-3: "175.0B" in table 2.1, its paper has no more digits
    "GPT-1": 116_534_784,
    "GPT-2": 124_439_808,
    "GPT-2 XL": 1_557_611_200,
    "Llama 1 7B": 6_738_415_616,
    "Llama 2 70B": 68_976_648_192,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
    "Llama 3.1 405B": 405_853_388_800,
    "Mistral 7B": 7_241_732_096,
    "Qwen2 7B": 7_615_616_512,
    "Qwen2 72B": 72_706_203_648,
    "Qwen3 8B": 8_190_735_360,
}


def config_of(shape: DecoderSizes) -> PreTrainedConfig:
    """The same sizes as transformers' own configuration."""
    if shape.learned:
        kind = OpenAIGPTConfig if shape.name == "GPT-1" else GPT2Config
        return kind(
            n_layer=shape.layers, n_head=shape.heads, n_embd=shape.d_model, n_positions=shape.context,
            vocab_size=shape.vocabulary,
        )  # fmt: skip
    kinds = {"Qwen2": Qwen2Config, "Qwen3": Qwen3Config, "Mistr": MistralConfig}
    return kinds.get(shape.name[:5], LlamaConfig)(
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        hidden_size=shape.d_model, head_dim=shape.d_head, intermediate_size=shape.d_ffn, vocab_size=shape.vocabulary,
        max_position_embeddings=shape.context, tie_word_embeddings=shape.tied,
    )  # fmt: skip


def built(shape: DecoderSizes) -> torch.nn.Module:
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config_of(shape), attn_implementation="eager")


@pytest.mark.parametrize("shape", KNOWN_SHAPES, ids=lambda one: one.name)
def test_parameters_are_those_of_transformers_on_the_meta_device_and_those_that_are_published(shape):
    model = built(replace(shape, layers=2))
    two = {name: one.numel() for name, one in model.named_parameters()}
    assert replace(shape, layers=2).total == sum(two.values())
    more = sum(one.numel() for one in built(replace(shape, layers=3)).parameters()) - sum(two.values())
    whole = sum(two.values()) + (shape.layers - 2) * more
    assert shape.total == whole == PUBLISHED.get(shape.name, whole)
    parts = shape.parameters()
    assert parts["embedding"] == model.get_input_embeddings().weight.numel()
    assert round(BY_NAME["GPT-3 175B"].total / 1e9) == 175


@pytest.mark.parametrize(
    "shape",
    [
        DecoderSizes("Llama", 3, 6, 2, 48, 16, 80, 101, 64),
        DecoderSizes("Qwen3", 2, 4, 1, 32, 16, 40, 77, 64, qk_norm=True),
        replace(BY_NAME["GPT-2"], layers=2, heads=4, kv_heads=4, d_model=32, d_head=8, d_ffn=128, vocabulary=90),
    ],
    ids=lambda one: one.name,
)
def test_operations_are_those_that_torch_counts_and_bytes_those_of_a_cache(shape):
    n = 7
    model = built(shape).eval()
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        ids = torch.zeros(1, n, dtype=torch.long, device="meta")
        made = model(ids, use_cache=True)
    turns = 2 * n * shape.d_head if not shape.learned else 0  # RoPE's angles are a product too, once a forward
    assert counted.get_total_flops() in (n * sum(shape.work(n).values()), n * sum(shape.work(n).values()) + turns // 2)
    cache = made.past_key_values
    tensors = [one for layer in cache.layers for one in (layer.keys, layer.values)]
    assert shape.cache_bytes(n, 4) == sum(one.numel() for one in tensors) * 4


def test_a_loaded_models_sizes_give_exactly_its_parameters():
    runner = embedded()
    made = runner.submit(WhatItIsMadeOf()).result()
    shape = shape_of(made, "own", d_head=32, vocabulary=runner.info.n_vocab, context=runner.info.max_tokens)
    assert shape is not None
    assert shape.total == runner.info.n_parameters == made.n_parameters
    assert (shape.layers, shape.heads, shape.kv_heads, shape.d_model) == (8, 8, 4, 256)
    other = replace(made, n_parameters=made.n_parameters + 1)
    assert shape_of(other, "own", d_head=32, vocabulary=runner.info.n_vocab, context=2048) is None
