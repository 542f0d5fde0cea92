"""Tiny random models and the one tokenizer they share: built in code, the same at every call, nothing downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

N_LAYERS = 3
N_HEADS = 4
D_HEAD = 8
D_MODEL = N_HEADS * D_HEAD
BOS, EOS, PAD = 256, 257, 258  # the ids below are the 256 bytes
VOCAB = 264
MAX_TOKENS = 512

_SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": D_MODEL,
    "intermediate_size": 48,
    "num_hidden_layers": N_LAYERS,
    "num_attention_heads": N_HEADS,
    "max_position_embeddings": MAX_TOKENS,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "pad_token_id": PAD,
}


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A fast tokenizer with one token a byte and no special tokens added: n bytes of UTF-8 give n tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({symbol: idx for idx, symbol in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<bos>", "<eos>", "<pad>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", model_max_length=MAX_TOKENS
    )


def tiny(model_type: str, auto: Any = AutoModelForCausalLM, **config: Any) -> Callable[[], PreTrainedModel]:
    """A builder of a random model of this transformers type, in evaluation mode; the same weights at every call."""

    def build() -> PreTrainedModel:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = auto.from_config(AutoConfig.for_model(model_type, **{**_SIZES, **config}))
        _randomise(model)
        return model.eval()

    return build


def place(model: PreTrainedModel, device: str, dtype: torch.dtype) -> PreTrainedModel:
    """The model itself, moved and rounded."""
    nn.Module.to(model, device=device, dtype=dtype)  # transformers types its own `to` by a decorator that hides it
    return model


def _randomise(model: PreTrainedModel) -> None:
    # transformers' own initialisation (std 0.02, gains 1, biases 0) gives nearly uniform attention, on which most
    # mistakes are invisible: here scores spread over several units and no gain, bias or sink is neutral.
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for module in model.modules():
            is_norm = "Norm" in type(module).__name__  # a norm's gain may have two axes (Cohere)
            for parameter in module.parameters(recurse=False):
                noise = torch.randn(parameter.shape, generator=generator)
                if parameter.dim() < 2 or is_norm:
                    parameter.add_(0.3 * noise)
                else:
                    parameter.copy_(1.3 * noise * D_MODEL**-0.5)
    model.tie_weights()
