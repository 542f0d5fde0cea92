"""The block of 2017 has the parameters of torch's own modules, the modern one those of a transformers Llama."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from analysis.block_then_and_now import PARTS, modern_of, modern_parts, original_of
from analysis.decoder_sizes import BY_NAME, DecoderSizes

SMALL = DecoderSizes("small", 3, 8, 8, 64, 8, 256, 1000, 512, gated=False, tied=True, biases="all", norm_vectors=2)


def counted(module: nn.Module) -> int:
    return sum(one.numel() for one in module.parameters())


@pytest.mark.parametrize("shape", [SMALL, BY_NAME["GPT-2"]])
def test_a_layer_of_2017_is_torchs(shape: DecoderSizes):
    with torch.device("meta"):
        layers = [
            of(shape.d_model, shape.heads, 4 * shape.d_model)
            for of in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
        ]
    old = original_of(shape)
    for decoder, layer in zip((False, True), layers, strict=True):
        assert sum(old.block(decoder=decoder).values()) == counted(layer)
    whole = shape.vocabulary * shape.d_model + shape.layers * sum(map(counted, layers))
    assert sum(old.parameters().values()) == whole
    assert tuple(old.parameters()) == PARTS


@pytest.mark.parametrize("shape", [SMALL, BY_NAME["Llama 3 8B"]])
def test_the_one_of_today_is_a_llama(shape: DecoderSizes):
    new = modern_of(shape)
    config = LlamaConfig(
        vocab_size=new.vocabulary, hidden_size=new.d_model, intermediate_size=new.d_ffn, num_hidden_layers=new.layers,
        num_attention_heads=new.heads, num_key_value_heads=new.kv_heads, tie_word_embeddings=new.tied,
    )  # fmt: skip
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    assert sum(modern_parts(new).values()) == counted(model)
    assert new.kv_heads == (2 if shape is SMALL else 8)


def test_the_cache_of_2017_holds_every_head():
    assert original_of(SMALL).cache_bytes() == 4 * modern_of(SMALL).cache_bytes(1)
